"""The compiled engine's face to Python: play many matches, or one into a Record."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from kozel_sim.decision import IllegalMoveError, Policy
from kozel_sim.engine.complaints import unlike, what_plain_python_does
from kozel_sim.engine.entries import play_matches
from kozel_sim.engine.layout import (
    DESK,
    ILLEGAL,
    LOG_DRAW,
    LOG_PASS,
    LOG_PLAY,
    MATCH,
    OUT,
    aligned,
)
from kozel_sim.engine.lockstep.play import Lockstep, build_fault, lockstep_pays, why_not
from kozel_sim.engine.players import encode_players, first_error, forget_errors, looks_at_history
from kozel_sim.moves import decode_move
from kozel_sim.record import Event, Laid, Record, RoundRecord
from kozel_sim.reference import illegal_move_message, match_result
from kozel_sim.rules import RuleSet
from kozel_sim.tiles import NAMES, Hand
from kozel_sim.view import VIEW

FIRST_LOG = 1 << 14


class Table:
    """Rules and policies made ready for the kernel; ``play`` may be called from several threads.

    Parameters
    ----------
    rules : RuleSet
        The rules.
    policies : sequence of Policy
        What ``matches["players"]`` counts into.
    engine : {"auto", "vector", "scalar"}
        By default the vector engine plays the matches that it can, the scalar engine the others.

    Raises
    ------
    NotImplementedError
        If the engine does not play a knob of the rules, or cannot be compiled here.
    ValueError
        If a policy does not compile.
    """

    def __init__(self, rules: RuleSet, policies: Sequence[Policy], engine: str = "auto") -> None:
        self.policies = list(policies)
        self._n_seats = rules.players
        self._rules = rules.encode()
        self._players = encode_players(policies)
        self._watched = looks_at_history(policies)
        self._lockstep = None
        self._carried = np.zeros(len(policies), bool)
        if engine == "vector" or (engine == "auto" and lockstep_pays()):
            reasons = why_not(rules, policies, self._players)
            if engine == "vector" and any(reasons):
                reason = next(filter(None, reasons))
                raise NotImplementedError(f"engine 'vector' cannot play this: {reason}")
            if engine == "vector" and build_fault():
                raise NotImplementedError(
                    f"engine 'vector' cannot be compiled here: {build_fault()}"
                )
            self._carried = np.array([reason is None for reason in reasons])
        if self._carried.any() and (engine == "vector" or lockstep_builds()):
            self._lockstep = Lockstep(self._rules, self._players, self._carried, self._watched)

    def play(self, matches: np.ndarray, seed: int, log: np.ndarray | None = None) -> int:
        """Play MATCH records where they stand; return how many words the log wanted.

        Raises
        ------
        IllegalMoveError
            If a policy returned a move that is not legal.
        """
        if self._lockstep is None or log is not None:
            return self._play_scalar(matches, seed, log)
        if self._carried.all():
            self._lockstep.play(matches, seed)
            return 0
        players: np.ndarray = matches["players"][:, : self._n_seats]
        able = self._carried[players].all(axis=1)
        for which, play in ((able, self._lockstep.play), (~able, self._play_scalar)):
            if which.any():
                part = matches[which]
                play(part, seed)
                matches[which] = part
        return 0

    def _play_scalar(self, matches: np.ndarray, seed: int, log: np.ndarray | None = None) -> int:
        desks = np.zeros(1, DESK)
        desk = desks[0]
        desk["watched"] = self._watched
        if log is not None:
            desk["log"] = log.ctypes.data
            desk["log_size"] = log.size
        views = aligned(1, VIEW)
        forget_errors()
        status = play_matches(self._rules, self._players, np.uint64(seed), matches, views, desks)
        if status == ILLEGAL:
            self._complain(matches, seed, views[0], desk)
        return int(desk["log_used"])

    def _complain(self, matches: np.ndarray, seed: int, view: Any, desk: Any) -> None:
        """Say what a policy did wrong as the reference engine says it: plain Python is asked."""
        deal, seat, raised = int(desk["fault_deal"]), int(desk["fault_seat"]), first_error()
        at_fault = matches[matches["deal"] == deal]
        # The first match of the deal that was not played to its end.
        player = int(at_fault[at_fault["rounds"] == 0]["players"][0, seat])
        policy = self.policies[player]
        legal = [int(m) for m in desk["moves"][: int(desk["n_moves"])]]
        move, plainly = what_plain_python_does(policy, seed, deal, view, legal)
        more = ""
        if move is None:
            raised = plainly
        elif move in legal:
            more = unlike(move)
        else:
            raised = ""
        returned = int(desk["fault_move"]) if move is None or more else move
        place = int(desk["fault_round"]), int(desk["fault_event"]), seat, returned
        message = illegal_move_message(policy.name, deal, *place, legal, raised)
        raise IllegalMoveError(message + more)


@cache
def lockstep_builds() -> bool:
    """Tell whether the vector kernel can be compiled here; warn, once, if it cannot."""
    if build_fault():
        warnings.warn(
            f"the vector engine cannot be compiled here ({build_fault()}); the scalar engine plays "
            "instead: the results are the same, but it is slower",
            RuntimeWarning,
            stacklevel=2,
        )
    return not build_fault()


def new_matches(deals: np.ndarray, players: np.ndarray) -> np.ndarray:
    """Return MATCH records to be played: deal ids ``[match]`` and players ``[match, seat]``."""
    matches = np.zeros(len(deals), MATCH)
    matches["deal"] = deals
    matches["players"][:, : players.shape[1]] = players
    return matches


def play_match(
    rules: RuleSet, policies: Sequence[Policy], seed: int, deal: int, seating: int = 0
) -> Record:
    """Play one match and return its record; equal to ``reference.play_match``."""
    table = Table(rules, policies)
    seats = np.arange(rules.players)[None]
    size = FIRST_LOG
    while True:
        log = np.zeros(size, np.int64)
        used = table.play(new_matches(np.array([deal], np.uint64), seats), seed, log)
        if used <= size:
            break
        size = used
    rounds = tuple(_rounds(rules, iter(log[:used].tolist())))
    names = tuple(policy.name for policy in policies)
    return Record(rules, seed, deal, seating, names, rounds, match_result(rules, rounds[-1]))


def _rounds(rules: RuleSet, words: Iterator[int]) -> Iterator[RoundRecord]:
    """Read the rounds of a match out of its log."""

    def take(n: int, of: int = 4) -> tuple[int, ...]:
        """Take the first n of some words."""
        return tuple([next(words) for _ in range(of)][:n])

    sides = rules.sides
    for number, _ in enumerate(iter(lambda: next(words, None), None)):
        redeals, leader, forced = take(3, 3)
        hands = take(rules.players)
        bazaar = take(n := next(words), n)
        events = []
        while (kind := next(words)) in (LOG_PLAY, LOG_DRAW, LOG_PASS):
            seat, what = take(2, 2)
            events.append(_event(kind, seat, what))
        how, by, true_fish = take(3, 3)
        yield RoundRecord(
            round=number,
            redeals=redeals,
            hands=tuple(tuple(Hand(hand).names) for hand in hands),
            bazaar=tuple(NAMES[tile] for tile in bazaar),
            leader=leader,
            forced=None if forced < 0 else NAMES[forced],
            events=tuple(events),
            end="out" if how == OUT else "fish",
            by=by,
            true_fish=bool(true_fish),
            hand_points=take(rules.players),
            written=take(sides),
            pot=next(words),
            accounts=take(sides),
            memory=take(sides),
            opened=tuple(bool(o) for o in take(sides)),
        )


def _event(kind: int, seat: int, what: int) -> Event:
    if kind == LOG_DRAW:
        return Event(seat, draw=NAMES[what])
    if kind == LOG_PASS:
        return Event(seat)
    return Event(
        seat, play=tuple(Laid(NAMES[t], arm, closed) for t, arm, closed in decode_move(what))
    )
