"""Policy specs: the one-line notation of a policy, read and written.

``random``                              a registered policy
``careful:alpha=0.5``                   a registered function with parameters
``weights:pips=1,double=3,lock=1.5``    a weighted sum of features
``prefer:hold_last>long_suit?match>pips``   a ladder: each stage breaks the ties of those before it
``mix:0.7*keep_range+0.3*random``       a mixture, drawn anew for every decision
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from kozel_sim.decision import THOUSAND, Ladder, Policy, Stage
from kozel_sim.features import FEATURES, TRIGGERS
from kozel_sim.names import read_name
from kozel_sim.words import did_you_mean, quoted, shorten


def split_specs(text: str) -> list[str]:
    """Split a comma-separated list of specs; ``name=value`` belongs to the spec before it.

    Examples
    --------
    >>> split_specs("random,weights:pips=1,double=3,keep_range")
    ['random', 'weights:pips=1,double=3', 'keep_range']
    """
    specs: list[str] = []
    for word in (w.strip() for w in read_name(text).split(",")):
        if specs and re.match(r"\w+=", word):
            specs[-1] += f",{word}"
        elif word:
            specs.append(word)
    return specs


def read_pairs(spec: str, text: str) -> dict[str, Decimal]:
    """Read ``name=number,name=number`` of a spec."""
    pairs: dict[str, Decimal] = {}
    for word in text.split(","):
        name, sign, number = (w.strip() for w in word.partition("="))
        if not sign or not name:
            raise ValueError(f"policy {quoted(spec)}: {quoted(word)} is not name=number")
        if name in pairs:
            raise ValueError(f"policy {quoted(spec)}: {shorten(name)} is given twice")
        pairs[name] = read_decimal(spec, number)
    return pairs


def read_decimal(spec: str, text: str) -> Decimal:
    """Read a finite decimal number of a spec."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise ValueError(f"policy {quoted(spec)}: {quoted(text)} is not a number")
    return number


def write_decimal(number: Decimal | Fraction | float) -> str:
    """Write a number as short as it is exact.

    Examples
    --------
    >>> write_decimal(Decimal("0.50")), write_decimal(Decimal("20"))
    ('0.5', '20')
    """
    if isinstance(number, Fraction):
        # Read from a decimal, so some power of ten clears the denominator.
        digits = next(k for k in range(1000) if 10**k % number.denominator == 0)
        number = Decimal(f"{number.numerator * 10**digits // number.denominator}e-{digits}")
    text = f"{Decimal(str(number)):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def read_weights(spec: str, text: str) -> Policy:
    """Build the policy of a ``weights:`` spec.

    Raises
    ------
    ValueError
        If a feature is unknown, or a weight is no number or finer than a thousandth.
    """
    weights = _read_stage_weights(spec, text)
    return Policy(
        name=f"weights:{_write_stage_weights(weights)}",
        parts=((Fraction(1), Ladder((Stage("always", weights),))),),
        doc="the move with the highest weighted sum of features",
    )


def _read_stage_weights(spec: str, text: str) -> dict[str, int]:
    """Read ``feature=number,feature=number`` into thousandths, in the order of FEATURES."""
    pairs = read_pairs(spec, text)
    weights: dict[str, int] = {}
    for name, number in pairs.items():
        if name not in FEATURES:
            known = ", ".join(FEATURES)
            hint = did_you_mean(name, FEATURES)
            raise ValueError(
                f"policy {quoted(spec)}: unknown feature {quoted(name)}{hint}; choose from {known}"
            )
        if number.adjusted() > 9:
            raise ValueError(
                f"policy {quoted(spec)}: weight {name}={shorten(str(number))} is too large"
            )
        thousandths = Fraction(number) * THOUSAND if number.adjusted() > -9 else Fraction(1, 2)
        if thousandths.denominator != 1 and number:
            raise ValueError(
                f"policy {quoted(spec)}: weight {name}={shorten(str(number))} is finer than a "
                "thousandth, which is the finest that is kept exactly"
            )
        weights[name] = int(thousandths) if number else 0
    weights = {name: weights[name] for name in FEATURES if weights.get(name)}
    if not weights:
        raise ValueError(f"policy {quoted(spec)}: all weights are 0; that is the policy 'random'")
    return weights


def _write_stage_weights(weights: dict[str, int]) -> str:
    return ",".join(f"{n}={write_decimal(Decimal(w) / THOUSAND)}" for n, w in weights.items())


def read_prefer(
    spec: str, text: str, ladder_of: Callable[[str], Ladder | None]
) -> tuple[str, Ladder]:
    """Read the stages of a ``prefer:`` spec: its canonical text, and the ladder.

    Stages are separated by ``>``. Each is a feature to be maximised (``pips``) or minimised
    (``-lock``), or a weighted sum (``pips=1,double=3``), after a trigger if it has one
    (``long_suit?match``); or the name of a ladder, whose stages stand for it.

    Parameters
    ----------
    spec, text : str
        The whole spec, for messages, and the stages.
    ladder_of : callable
        Returns the ladder of a registered name, None where there is none.

    Raises
    ------
    ValueError
        If a stage is empty, or a name in it is unknown; the message lists the choices.

    Examples
    --------
    >>> read_prefer("", "-lock > long_suit? match=1,pips=0.1", {}.get)[0]
    '-lock>long_suit?pips=0.1,match=1'
    """
    words: list[str] = []
    stages: list[Stage] = []
    for word in text.split(">"):
        trigger, mark, rule = word.strip().rpartition("?")
        trigger, rule = trigger.strip(), rule.strip()
        named = None if mark or rule in FEATURES else ladder_of(rule)
        if named is not None:
            words.append(rule)
            stages += named.stages
            continue
        if mark and trigger not in TRIGGERS:
            known = ", ".join(TRIGGERS)
            hint = did_you_mean(trigger, TRIGGERS)
            raise ValueError(
                f"policy {quoted(spec)}: unknown trigger {quoted(trigger)}{hint}; "
                f"choose from {known}"
            )
        weights = _read_rule(spec, rule)
        trigger = trigger if mark else "always"
        stages.append(Stage(trigger, weights))
        words.append(f"{trigger}?" * (trigger != "always") + _write_rule(weights))
    return ">".join(words), Ladder(tuple(stages))


def _read_rule(spec: str, rule: str) -> dict[str, int]:
    """Read what a stage maximises."""
    if "=" in rule:
        return _read_stage_weights(spec, rule)
    sign, name = (-1, rule[1:].strip()) if rule.startswith("-") else (1, rule)
    if not name:
        raise ValueError(f"policy {quoted(spec)}: a stage is empty")
    if name not in FEATURES:
        known = ", ".join(FEATURES)
        raise ValueError(
            f"policy {quoted(spec)}: {quoted(name)} is neither a feature nor a ladder that stands "
            f"by itself{did_you_mean(name, FEATURES)}; features: {known}"
        )
    return {name: sign * THOUSAND}


def _write_rule(weights: dict[str, int]) -> str:
    """Write what a stage maximises, as short as it can be."""
    ((name, weight), *more) = weights.items()
    if more or abs(weight) != THOUSAND:
        return _write_stage_weights(weights)
    return name if weight > 0 else f"-{name}"


def write_ladder(ladder: Ladder) -> str:
    """Return the spec of a ladder, stage by stage.

    Examples
    --------
    >>> write_ladder(Ladder((Stage("long_suit", {"match": 1000}), Stage("always", {"pips": 1500}))))
    'prefer:long_suit?match>pips=1.5'
    """
    if not ladder.stages:
        return "random"
    words = (
        f"{stage.trigger}?" * (stage.trigger != "always") + _write_rule(stage.weights)
        for stage in ladder.stages
    )
    return "prefer:" + ">".join(words)


def read_mix(spec: str, text: str) -> list[tuple[Fraction, str]]:
    """Return the shares and specs of a ``mix:`` spec.

    Raises
    ------
    ValueError
        If it is not ``share*spec+share*spec``, a share is not positive, or they do not sum to 1.
    """
    shares: list[tuple[Fraction, str]] = []
    for word in text.split("+"):
        number, star, component = (w.strip() for w in word.partition("*"))
        if not star or not component:
            raise ValueError(
                f"policy {quoted(spec)}: {quoted(word)} is not share*policy, like 0.7*random"
            )
        if component.startswith("mix:"):
            raise ValueError(
                f"policy {quoted(spec)}: a mixture of mixtures is not kept; multiply it out"
            )
        share = Fraction(read_decimal(spec, number))
        if share <= 0:
            raise ValueError(f"policy {quoted(spec)}: share {shorten(number)} is not over 0")
        shares.append((share, component))
    total = sum(share for share, _ in shares)
    if total != 1:
        raise ValueError(f"policy {quoted(spec)}: shares sum to {write_decimal(total)}, not 1")
    return shares
