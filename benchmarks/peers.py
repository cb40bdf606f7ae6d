"""Measure the engines against the domino packages of PyPI, side by side in one run.

All play 28 tiles, seven to each of four players, on one chain with two ends, moves drawn at random
among the legal ones, until a hand is empty or nobody can move. A repeat runs one right after the
other on one core and takes the thread's CPU time; a ratio is between these two. What is not the
same is said beside each. A package that is not installed is left out, and that is said too.
"""

from __future__ import annotations

import argparse
import importlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

from kozel_sim.checks import ENGINES
from kozel_sim.engine.play import new_matches
from kozel_sim.parts import player_of
from kozel_sim.policies import get_policy
from kozel_sim.rules import RuleSet

Speed = Callable[[int], float]
"""Plays at least so many rounds; returns rounds per second of CPU time."""
PRESETS = ("room-fish-all", "pair-traditional")
INSTALL = "pip install '.[bench]'"
ROUNDS_PER_MATCH = 8
"""Fewer than in any match of these presets on average: enough matches for so many rounds."""


def engine_speed(preset: str, engine: str) -> Speed:
    """Make an engine ready, four random players."""
    play = player_of(RuleSet.preset(preset, 4), [get_policy("random")], engine)
    play(new_matches(np.arange(1, dtype=np.uint64), np.zeros((1, 4), np.int64)), 1)

    def speed(rounds: int) -> float:
        deals = np.arange(-(-rounds // ROUNDS_PER_MATCH), dtype=np.uint64)
        played = new_matches(deals, np.zeros((len(deals), 4), np.int64))
        start = time.thread_time()
        play(played, 1)
        return float(played["rounds"].sum() / (time.thread_time() - start))

    return speed


def dominoes_speed(rounds: int) -> float:
    """Play series to 100 points with the package ``dominoes``."""
    dominoes = importlib.import_module("dominoes")
    draw = random.Random(1)
    played = 0
    start = time.thread_time()
    while played < rounds:
        series = dominoes.Series(target_score=100)
        game = series.games[0]
        while game is not None:
            while game.result is None:
                game.make_move(*draw.choice(game.valid_moves))
            game = series.next_game()
        played += len(series.games)
    return played / (time.thread_time() - start)


def spiel_speed(rounds: int) -> float:
    """Play rounds of ``python_team_dominoes`` with OpenSpiel."""
    pyspiel = importlib.import_module("pyspiel")
    importlib.import_module("open_spiel.python.games.team_dominoes")
    game = pyspiel.load_game("python_team_dominoes")
    draw = random.Random(1)
    start = time.thread_time()
    for _ in range(rounds):
        state = game.new_initial_state()
        while not state.is_terminal():
            chance = state.is_chance_node()
            moves = [a for a, _ in state.chance_outcomes()] if chance else state.legal_actions()
            state.apply_action(draw.choice(moves))
    return rounds / (time.thread_time() - start)


THE_SAME = (
    "The same in all: 28 tiles, seven to each of four players, one chain with two ends, random "
    "legal moves, a round until a hand is empty or nobody can move."
)


@dataclass(frozen=True)
class Peer:
    """A package that plays dominoes: how to play with it, and what is not the same game."""

    module: str
    speed: Speed
    rounds: int
    differs: str


PEERS = {
    "dominoes": Peer(
        "dominoes",
        dominoes_speed,
        1000,
        "pairs to 100 points, no redeals; the first round starts with 6-6; the pips of all hands "
        "are counted; plain Python objects",
    ),
    "open-spiel (python_team_dominoes)": Peer(
        "pyspiel",
        spiel_speed,
        100,
        "one round by itself, pairs, no redeals; tiles are dealt as chance moves; Python called "
        "from C++",
    ),
}


def measure(presets: tuple[str, ...], rounds: int, repeats: int) -> tuple[list[str], list[str]]:
    """Return the rows of the table, and what has to be said beside it."""
    rows, notes = [], []
    engines = {
        (preset, engine): engine_speed(preset, engine)
        for preset in presets
        for engine in ENGINES
        if engine not in ("auto", "reference")
    }
    for name, peer in PEERS.items():
        try:
            importlib.import_module(peer.module)
        except ImportError:
            notes.append(f"{name} is left out: it is not installed here ({INSTALL}).")
            continue
        peer.speed(2)
        notes.append(f"Not the same as in {name}: {peer.differs}.")
        for (preset, engine), ours in engines.items():
            pairs = [(peer.speed(peer.rounds), ours(rounds)) for _ in range(repeats)]
            ratios = [mine / theirs for theirs, mine in pairs]
            theirs, mine = (median(speeds) for speeds in zip(*pairs, strict=True))
            rows.append(
                f"| {name} | {theirs:,.0f} | {preset}, {engine} engine | {mine:,.0f} "
                f"| {median(ratios):,.0f} | {min(ratios):,.0f}-{max(ratios):,.0f} |"
            )
    return rows, notes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000_000, help="of the engine, per run")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows, notes = measure(PRESETS, options.rounds, options.repeats)
    if rows:
        print("| package | rounds/s | kozel_sim | rounds/s | ratio | spread |")
        print("|---|--:|---|--:|--:|--:|")
        print("\n".join(rows), end="\n\n")
    print(THE_SAME, *notes, sep="\n\n")


if __name__ == "__main__":
    main()
