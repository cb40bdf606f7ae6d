"""What an engine needs to know of a policy, and how a decision is taken (the slow twin).

A :class:`Policy` is one or more parts, each with a share. A part is a :class:`Ladder` (data) or a
:class:`Function` (a user's code). The share is drawn per decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from kozel_sim.features import FEATURES, TRIGGERS
from kozel_sim.rng import below
from kozel_sim.view import N_PARAMS, View
from kozel_sim.words import did_you_mean, quoted, shorten, told

THOUSAND = 1000
_INT32 = 2**31 - 1


@dataclass(frozen=True)
class Stage:
    """One rung of a ladder: where the trigger holds, keep the moves with the highest score.

    Attributes
    ----------
    trigger : str
        A name from ``TRIGGERS``.
    weights : dict of str to int
        Feature name to weight in thousandths. Scores are exact integers.

    Raises
    ------
    ValueError
        If a name is unknown, or a score could pass 32 bits.
    """

    trigger: str
    weights: dict[str, int]

    def __post_init__(self) -> None:
        if self.trigger not in TRIGGERS:
            hint = did_you_mean(self.trigger, TRIGGERS)
            raise ValueError(
                f"unknown trigger {quoted(self.trigger)}{hint}; choose from {', '.join(TRIGGERS)}"
            )
        for name in self.weights:
            if name not in FEATURES:
                hint = did_you_mean(name, FEATURES)
                raise ValueError(
                    f"unknown feature {quoted(name)}{hint}; choose from {', '.join(FEATURES)}"
                )
        bound = sum(abs(w) * FEATURES[name].largest for name, w in self.weights.items())
        if bound > _INT32:
            raise ValueError(
                f"weights {self.weights} are too large: a score could reach {bound} thousandths, "
                f"over {_INT32}"
            )

    def score(self, view: View, move: int) -> int:
        """Return the weighted sum of a move's features, in thousandths."""
        return sum(weight * FEATURES[name].of(view, move) for name, weight in self.weights.items())


@dataclass(frozen=True)
class Ladder:
    """A policy as data: stages that narrow the legal moves; what is left is a random choice.

    A ladder without stages is the random legal policy.
    """

    stages: tuple[Stage, ...] = ()

    @property
    def history(self) -> bool:
        """Whether it looks at what the seats showed earlier in the round."""
        return any(FEATURES[name].history for stage in self.stages for name in stage.weights)

    def narrow(self, view: View, moves: Sequence[int]) -> list[int]:
        """Return the moves that survive all stages."""
        left = list(moves)
        for stage in self.stages:
            if TRIGGERS[stage.trigger].holds(view, moves):
                scores = [stage.score(view, move) for move in left]
                best = max(scores)
                left = [m for m, s in zip(left, scores, strict=True) if s == best]
        return left

    def choose(self, view: View, moves: Sequence[int]) -> int:
        """Return a move: the ladder's choice, a tie broken by the event's word."""
        left = self.narrow(view, moves)
        return left[below(view.word, len(left))]


@dataclass(frozen=True)
class Function:
    """A policy as a function ``choose(view) -> move code``.

    Attributes
    ----------
    choose_code : callable
        The plain Python function; the compiled engine compiles this same one.
    source : str
        Its source text, for the manifest and its hash.
    params : tuple of float
        Values for ``view.params``.
    words : bool
        Whether ``view.words`` must be filled.
    """

    choose_code: Callable[[View], int]
    source: str = field(default="", compare=False)
    params: tuple[float, ...] = ()
    words: bool = False

    def choose(self, view: View, moves: Sequence[int]) -> int:
        """Return the function's move, legal or not."""
        view.params = [*self.params, *[0.0] * (N_PARAMS - len(self.params))]
        move = self.choose_code(view)
        if not hasattr(type(move), "__int__"):  # a text has none
            raise TypeError(f"it returned {quoted(move)}, which is not the code of a move")
        return int(move)


@dataclass(frozen=True)
class Policy:
    """A way of playing.

    Attributes
    ----------
    name : str
        The canonical spec, which builds the same policy again.
    parts : tuple of (Fraction, Ladder or Function)
        Shares, which sum to 1, and what they choose.
    doc : str
        One line: what it does and where it comes from.

    Examples
    --------
    >>> from kozel_sim import get_policy
    >>> get_policy("mix:0.7*keep_range+0.3*random").name
    'mix:0.7*keep_range+0.3*random'
    """

    name: str
    parts: tuple[tuple[Fraction, Ladder | Function], ...]
    doc: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.name

    @property
    def thresholds(self) -> list[int]:
        """By part: it is chosen while the mixture's word is below this (and not below the last)."""
        total = Fraction(0)
        found = []
        for share, _ in self.parts:
            total += share
            found.append(int(total * 2**32))
        return found

    def pick(self, mixture_word: int) -> Ladder | Function:
        """Return the part that one decision uses.

        Parameters
        ----------
        mixture_word : int
            A random word of 32 bits.

        Returns
        -------
        Ladder or Function
            The only part, or the one of a mixture that the word falls on.
        """
        for threshold, (_, part) in zip(self.thresholds, self.parts, strict=True):
            if mixture_word < threshold:
                return part
        return self.parts[-1][1]


class IllegalMoveError(ValueError):
    """A policy returned no legal move, or raised; the message names everything about it."""


def describe_error(error: BaseException) -> str:
    """Return an error in one line, with the last place outside this package where it passed.

    Examples
    --------
    >>> describe_error(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    """
    own = str(Path(__file__).parent)
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(own):
            place = f" ({Path(file).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    said = shorten(" ".join(told(error).split()))
    return type(error).__name__ + (f": {said}" if said else "") + place
