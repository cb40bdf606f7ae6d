"""When a run is sure enough: rules that are asked at preset numbers of deals, for many keys.

A rule is given an estimate for every key (a policy, or a pair of them) and says for which keys more
deals are wanted. A key that is decided gets no more; it keeps what it was decided on.

Legend
------
key      what has an estimate of its own, as "dump_heavy" or "dump_heavy v random".
family   how many keys there were at the start; every key's chance of error is a part of it
         (Bonferroni), so that the chance of any error in the whole family is at most alpha.
look     a number of deals at which the rule is asked, see ``sequential.looks``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kozel_sim.capped import all_capped
from kozel_sim.direction import better_under, sign_of
from kozel_sim.intervals import LEVEL, Estimate, need_level
from kozel_sim.metrics import METRICS, DealSums, duels_of, metric_of, parts_of
from kozel_sim.schedule import VERSUS
from kozel_sim.sequential import ThreeWay, effect_of, sequence_of
from kozel_sim.walks import corrected_for_overshoot

Floats = npt.NDArray[np.float64]
OPEN = "open"
"""The decision that keeps a key's deals coming."""
BOUNDS = ("looks", "wald")
PATHS = 4000
"""Simulated runs behind a corrected estimate (half of them mirror the other half)."""


@dataclass(frozen=True)
class WidthStop:
    """Stop a key when its interval is narrow enough; written ``width=0.002``.

    Attributes
    ----------
    width : float
        The whole width of the interval, in units of the metric.
    metric : str
        Of a mean: one of ``kozel_sim.metrics.METRICS``.
    level : float
        The chance that the intervals of all keys hold at all looks.
    planned : int
        The number of deals at which the intervals are to be tightest.
    """

    width: float
    metric: str = "goat_rate"
    level: float = LEVEL
    planned: int = 2000

    def __post_init__(self) -> None:
        metric_of(self.metric)
        need_level(self.level)
        if not 0 < self.width < math.inf:
            raise ValueError(f"width must be more than 0, not {self.width!r}")
        if self.planned < 1:
            raise ValueError(f"planned must be at least 1, not {self.planned}")

    def interval(self, found: Estimate, family: int) -> Estimate:
        """Return an estimate with the interval that holds at all looks and for all keys."""
        inside = replace(found, level=1 - (1 - self.level) / family)
        wide = sequence_of(inside, self.planned, METRICS[self.metric].rate)
        if METRICS[self.metric].rate:
            least = -1.0 if "paired" in found.method else 0.0
            ends = (max(least, wide.ci_low), min(1.0, wide.ci_high))
            wide = replace(wide, ci_low=ends[0], ci_high=ends[1])
        return replace(wide, level=self.level, method=f"{wide.method}, Bonferroni over {family}")

    def decide(self, found: Mapping[str, Estimate], family: int | None = None) -> dict[str, str]:
        """Return "enough" or "open" by key.

        Parameters
        ----------
        found : mapping of str to Estimate
            Estimates clustered by deal, such as ``stats.clustered_mean`` makes.
        family : int, optional
            How many keys there were at the start; by default as many as there are.
        """
        size = _family(found, family)
        spans = {key: self.interval(one, size) for key, one in found.items()}
        return {
            key: "enough" if one.ci_high - one.ci_low <= self.width else OPEN
            for key, one in spans.items()
        }

    def __str__(self) -> str:
        return _write(self, "")


@dataclass(frozen=True)
class SprtStop:
    """Stop a pair when it is known who is better, or that nobody is by much; written ``sprt``.

    Attributes
    ----------
    effect : float
        The least difference worth finding, in standard deviations of a deal's paired difference.
    alpha : float
        The chance that any pair of the family is declared different that is not.
    beta : float
        The chance that a pair that differs by the effect is not declared so.
    metric : str
        Of the paired difference: one of ``kozel_sim.metrics.METRICS``.
    bounds : {"looks", "wald"}
        Of the likelihood ratios: those that err as often as was said at the looks of a run, or
        Wald's, which hold whenever one looks, err less often, and take more deals.
    """

    effect: float = 0.1
    alpha: float = 0.05
    beta: float = 0.05
    metric: str = "points_per_match"
    bounds: str = "looks"

    def __post_init__(self) -> None:
        metric_of(self.metric)
        if self.bounds not in BOUNDS:
            raise ValueError(f"unknown bounds {self.bounds!r}; choose from {', '.join(BOUNDS)}")
        ThreeWay(self.effect, self.alpha, self.beta)

    @property
    def level(self) -> float:
        """The level of the intervals that go with the test."""
        return 1 - self.alpha

    def test(self, family: int) -> ThreeWay:
        """Return the test of one pair out of a family."""
        of_one = ThreeWay(self.effect, self.alpha / family, self.beta)
        return corrected_for_overshoot(of_one) if self.bounds == "looks" else of_one

    def interval(self, found: Estimate, family: int) -> Estimate:
        """Return a difference with the interval that holds at all looks and for all pairs."""
        return WidthStop(1.0, self.metric, self.level).interval(found, family)

    def decide(self, found: Mapping[str, Estimate], family: int | None = None) -> dict[str, str]:
        """Return "better" (the first of the pair), "worse", "no difference" or "open" by key.

        Parameters
        ----------
        found : mapping of str to Estimate
            Differences, first less second, as ``estimates`` makes them. One that does not say
            which way is better, as of ``stats.clustered_difference``, is of a rule set under which
            few points are good.
        family : int, optional
            How many pairs there were at the start; by default as many as there are.
        """
        test = self.test(_family(found, family))
        words = {
            -1.0: {"high": "worse", "low": "better"},
            1.0: {"high": "better", "low": "worse"},
        }
        same = {"none": "no difference", "open": OPEN}
        decisions = {}
        for key, one in found.items():
            sign = sign_of(one.better or better_under(self.metric, win=False))
            decisions[key] = (words[sign] | same)[test.decide(effect_of(one), one.n_deals)]
        return decisions

    def __str__(self) -> str:
        return _write(self, "sprt")


Stop = WidthStop | SprtStop


def _family(found: Mapping[str, Estimate], family: int | None) -> int:
    size = len(found) if family is None else family
    if size < len(found):
        raise ValueError(f"a family of {size} cannot have {len(found)} members")
    return max(size, 1)


def _write(rule: Stop, head: str) -> str:
    """Write a rule as it is read: what is not as by default."""
    said = [head] if head else []
    for one in fields(rule):
        value = getattr(rule, one.name)
        if value != one.default:
            said.append(f"{one.name}={value}")
    return ",".join(said)


def read_stop(text: str) -> Stop:
    """Read a stopping rule from an option's text.

    Parameters
    ----------
    text : str
        ``width=0.002``, with metric, level and planned if wanted; or ``sprt``, with effect, alpha,
        beta, metric and bounds if wanted; commas between them.

    Returns
    -------
    WidthStop or SprtStop
        ``str`` of it reads back as the same rule.

    Raises
    ------
    ValueError
        If it is neither, or a value is out of range; the message names the value and the choices.

    Examples
    --------
    >>> read_stop("sprt,effect=0.2")
    SprtStop(effect=0.2, alpha=0.05, beta=0.05, metric='points_per_match', bounds='looks')
    >>> str(read_stop("width=0.5,metric=points,level=0.99"))
    'width=0.5,metric=points,level=0.99'
    """
    parts = [part.strip() for part in text.split(",")]
    kind: type[WidthStop] | type[SprtStop]
    if parts[0] == "sprt":
        kind, parts = SprtStop, parts[1:]
    elif parts[0].partition("=")[0].strip() == "width":
        kind = WidthStop
    else:
        raise ValueError(f"stop {text!r} is no rule; write width=0.002 or sprt")
    types = {one.name: {"str": str, "int": int}.get(str(one.type), float) for one in fields(kind)}
    values: dict[str, Any] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in types or not equals:
            known = ", ".join(f"{key}=" for key in types)
            raise ValueError(f"stop {text!r}: {part!r} is not known; choose from {known}")
        if name in values:
            raise ValueError(f"stop {text!r}: {name} is given twice")
        try:
            values[name] = types[name](value)
        except ValueError:
            number = "a whole number" if types[name] is int else "a number"
            raise ValueError(f"stop {text!r}: {name} must be {number}, not {value!r}") from None
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"stop {text!r}: {error}") from None


Heap = tuple[str, str, str]
"""What sums are of: a rule set's title, and in a duel the two who meet."""


def estimates(rule: Stop, frame: pd.DataFrame) -> dict[str, Estimate]:
    """Return what a rule is asked about, by key.

    Parameters
    ----------
    rule : WidthStop or SprtStop
        Whose metric and level are taken.
    frame : DataFrame
        One row per match and seat. Of duels: the paired difference of each. Otherwise the mean of
        each policy for a rule of width, and the paired difference of every two for a test.

    Returns
    -------
    dict of str to Estimate
        Keys like "room-fish-all 4: dump_heavy v random".

    Examples
    --------
    >>> from kozel_sim import duel
    >>> run = duel("room-fish-all", "dump_heavy", "random", 300, seed=1, players=2)
    >>> rule = read_stop("sprt")
    >>> rule.decide(estimates(rule, run.frame))
    {'room-fish-all 2: dump_heavy v random': 'better'}
    """
    return estimates_of(rule, sums_of(rule, frame))


def sums_of(rule: Stop, frame: pd.DataFrame) -> dict[Heap, DealSums]:
    """Return the sums by deal that a rule's estimates are made of."""
    found: dict[Heap, DealSums] = {}
    for keys, part in parts_of(frame):
        head = f"{keys['preset']} {keys['players']}: "
        if "duel" in part.columns:
            for first, second, rows in duels_of(part):
                found[head, first, second] = DealSums.of(rows, rule.metric)
        else:
            found[head, "", ""] = DealSums.of(part, rule.metric)
    return found


def estimates_of(rule: Stop, summed: Mapping[Heap, DealSums]) -> dict[str, Estimate]:
    """Return what a rule is asked about, of sums by deal; as ``estimates``."""
    found: dict[str, Estimate] = {}
    for (head, first, second), sums in summed.items():
        if second:
            places = (sums.names.index(first), sums.names.index(second))
            found[f"{head}{first}{VERSUS}{second}"] = sums.difference(*places, rule.level)
        elif isinstance(rule, WidthStop):
            for i, name in enumerate(sums.names):
                found[f"{head}{name}"] = sums.mean(i, rule.level)
        else:
            for i, j in sums.pairs():
                title = f"{sums.names[i]}{VERSUS}{sums.names[j]}"
                found[f"{head}{title}"] = sums.difference(i, j, rule.level)
    return found


class Watch:
    """Watches the blocks of a run while it is played, and says which need more deals.

    A key keeps what it was decided on at its first decision; a block is done when all its keys are
    decided. The family is all keys of the first look.

    Parameters
    ----------
    rule : WidthStop or SprtStop
        The rule that is asked.
    schedule : sequence of int
        The numbers of deals at which it is asked.
    """

    def __init__(self, rule: Stop, schedule: Sequence[int]) -> None:
        self.rule = rule
        self.schedule = schedule
        self.family = 0
        self._parts: dict[int, list[dict[Heap, DealSums]]] = {}
        self._found: dict[str, Estimate] = {}
        self._counts: dict[str, dict[str, int]] = {}
        self._decisions: dict[str, str] = {}

    def add(self, block: int, frame: pd.DataFrame) -> None:
        """Take note of some more deals of a block."""
        self._parts.setdefault(block, []).append(sums_of(self.rule, frame))

    def look(self, blocks: Sequence[int]) -> list[int]:
        """Ask the rule of some blocks; return those that need more deals."""
        asked: dict[int, dict[str, Estimate]] = {}
        counts: dict[str, dict[str, int]] = {}
        for block in blocks:
            parts = self._parts[block]
            whole = {heap: DealSums.join([part[heap] for part in parts]) for heap in parts[0]}
            self._parts[block] = [whole]
            asked[block] = {}
            for heap, sums in whole.items():
                found = estimates_of(self.rule, {heap: sums})
                asked[block] |= found
                counts |= {k: {"n_matches": sums.matches, "n_capped": sums.capped} for k in found}
        self.family = self.family or sum(map(len, asked.values()))
        left = []
        for block, found in asked.items():
            open_ = {k: one for k, one in found.items() if self._decisions.get(k, OPEN) == OPEN}
            self._found |= open_
            self._counts |= {key: counts[key] for key in open_}
            self._decisions |= self.rule.decide(open_, self.family)
            if isinstance(self.rule, SprtStop):
                # Without a match that ended there is nobody who does better.
                self._decisions |= {key: OPEN for key in open_ if all_capped(counts[key])}
            if any(self._decisions[key] == OPEN for key in found):
                left.append(block)
        return left

    def table(self) -> pd.DataFrame:
        """Return what was found of every key, naively and corrected; as ``corrected``.

        Two more columns, n_matches and n_capped, say how many matches a key was decided on, and
        how many of them reached the cap of rounds. Where all did, no test decides.
        """
        table = corrected(self.rule, self._found, self.schedule, self.family)
        counts = pd.DataFrame([self._counts[key] for key in table["key"]])
        return table.assign(decision=[self._decisions[k] for k in table["key"]]).join(counts)


# ---------------------------------------------------------------------- corrected estimates


def corrected(
    rule: Stop,
    found: Mapping[str, Estimate],
    schedule: Sequence[int],
    family: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return what a stopped run found, naively and corrected for the stopping, side by side.

    Parameters
    ----------
    rule : WidthStop or SprtStop
        The rule that was asked.
    found : mapping of str to Estimate
        By key, at the look at which it was decided, or at the last one.
    schedule : sequence of int
        All looks that there might have been, the last one included.
    family : int, optional
        How many keys there were at the start; by default as many as there are.
    seed : int, default 0
        Of the simulated runs.

    Returns
    -------
    DataFrame
        Columns key, metric, decision, estimate, std_error, ci_low, ci_high (naive: as if the number
        of deals had been fixed), adjusted (the estimate less its bias; empty for a rule of width,
        whose estimates are not adjusted), sequence_low,
        sequence_high (the interval that holds under stopping, for all keys), level, n_deals,
        method.

    Notes
    -----
    A run that stops when it looks decided stops when luck helped, so its naive estimate is too
    large. The adjusted one is the effect at which runs under the same rule and looks would show,
    on average, what was shown: `PATHS` random walks with normal steps, the same ones for
    every effect. A rule of width stops by the spread. Where that does not depend on the mean, as
    among normal steps, there is no bias. Where it does there is one: low rates look sure sooner
    when luck makes them lower. Its size depends on how the two go together, which the rule does not
    know, so nothing is adjusted, and adjusted is empty.

    References
    ----------
    Whitehead, "On the bias of maximum likelihood estimation following a sequential test",
    Biometrika 73, 1986.

    Examples
    --------
    >>> from kozel_sim.stats import clustered_mean
    >>> seen = {"a v b": clustered_mean([1, -1, 2, -1] * 100, [1] * 400)}
    >>> table = corrected(SprtStop(), seen, [100, 200, 400, 800])
    >>> table["decision"][0], bool(table["adjusted"][0] < table["estimate"][0])
    ('worse', True)
    """
    size = _family(found, family)
    decisions = rule.decide(found, size)
    rows = []
    for key, one in found.items():
        wide = rule.interval(one, size)
        rows.append(
            {"key": key, "metric": rule.metric, "decision": decisions[key]}
            | {"estimate": one.estimate, "std_error": one.std_error}
            | {"ci_low": one.ci_low, "ci_high": one.ci_high}
            | {"adjusted": _adjusted(rule, one, tuple(schedule), size, seed)}
            | {"sequence_low": wide.ci_low, "sequence_high": wide.ci_high}
            | {"level": rule.level, "n_deals": one.n_deals, "method": wide.method}
        )
    return pd.DataFrame(rows)


def _adjusted(
    rule: Stop, one: Estimate, schedule: tuple[int, ...], family: int, seed: int
) -> float:
    if isinstance(rule, WidthStop):
        return math.nan
    if not (one.n_deals > 1 and 0 < one.std_error < math.inf):
        return one.estimate
    effects, expected = _expectations(rule.test(family), schedule, seed)
    seen = effect_of(one)
    deviation = one.std_error * math.sqrt(one.n_deals)
    # Beyond the grid every run stops at its first look, and is not biased.
    inside = expected[0] < seen < expected[-1]
    return float(np.interp(seen, expected, effects)) * deviation if inside else one.estimate


@lru_cache(maxsize=8)
def _expectations(test: ThreeWay, schedule: tuple[int, ...], seed: int) -> tuple[Floats, Floats]:
    """Return effects, and what runs under a test show of each on average when they stop."""
    n = np.array(schedule, float)
    steps = np.diff(n, prepend=0)
    half = np.random.default_rng(seed).normal(size=(PATHS // 2, len(n))) * np.sqrt(steps)
    noise = np.cumsum(np.concatenate([half, -half]), axis=1) / n
    _, upper = test.bounds
    sure = (upper / n[0] + test.effect**2 / 2) / test.effect + 4 / math.sqrt(n[0])
    side = np.linspace(0, sure, 81)[1:]
    means = np.array([_mean_at_stop(test, effect + noise, n) for effect in side])
    # Expectations rise with the effect; what is left of chance may not make them fall.
    means = np.maximum.accumulate(means)
    return np.concatenate([-side[::-1], [0], side]), np.concatenate([-means[::-1], [0], means])


def _mean_at_stop(test: ThreeWay, seen: Floats, n: Floats) -> float:
    """Return the mean of what paths show when they stop; ``seen`` is ``[path, look]``."""
    stops = test.codes(seen, n) != 2
    stops[:, -1] = True
    return float(seen[np.arange(len(seen)), stops.argmax(axis=1)].mean())
