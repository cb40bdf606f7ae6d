"""The command that says how many deals a question takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from kozel_sim.options import (
    Code,
    First,
    Json,
    Players,
    RulesOption,
    Second,
    Seed,
    Set,
    cores,
    number,
    read_code,
    read_rules,
    read_test,
)
from kozel_sim.performing import prints_aside
from kozel_sim.plain import records
from kozel_sim.printing import print_json
from kozel_sim.rating_report import print_forecast, print_plan


def plan(
    first: First,
    second: Second,
    detect: Annotated[
        float, typer.Option("--detect", help="The least difference worth finding, in the metric.")
    ],
    power: Annotated[float, typer.Option("--power", help="The chance to find it.")] = 0.9,
    metric: Annotated[
        str,
        typer.Option("--metric", help="points_per_match, points_per_round or goat_rate."),
    ] = "points_per_match",
    level: Annotated[float, typer.Option("--level", help="The interval's coverage.")] = 0.95,
    equivalent: Annotated[
        float | None,
        typer.Option(
            "--equivalent",
            help="Also plan to show that they differ by less; goat rates in percentage points.",
        ),
    ] = None,
    pilot: Annotated[int, number("--pilot", help="Deals of the pilot.")] = 1000,
    stop: Annotated[
        str | None,
        typer.Option("--stop", help="The test that is foretold; that of --detect if not said."),
    ] = None,
    family: Annotated[int, number("--family", help="Pairs that are tested at once.")] = 1,
    matches: Annotated[
        int | None,
        number("-n", "--matches", help="The test's most deals; 100000 if not said."),
    ] = None,
    rules: RulesOption = "room-fish-all",
    players: Players = None,
    set_: Set = None,
    code: Code = None,
    seed: Seed = None,
    json_: Json = False,
) -> None:
    """Play a pilot, and say how many deals it takes to find a difference, and how long that is.

    Also of a test that stops by itself: what it will say, by what is true, and when.
    """
    from kozel_sim.duels import two_policies
    from kozel_sim.forecasts import forecast
    from kozel_sim.planning import plan as plan_deals
    from kozel_sim.store import read_seed_of
    from kozel_sim.tournaments import Tournament

    read_code(code)
    pair = two_policies(first, second)
    rule_sets = read_rules(rules, players, set_, one=True)
    rule, most = read_test(stop, matches)
    planned = Tournament(
        "plan", rule_sets, pair, pilot, read_seed_of(None, seed), "duels", ((0, 1),)
    )
    # What is compiled first is not part of the speed.
    with prints_aside():
        replace(planned, deals=1, blocks=[]).play()
        played = planned.play(workers=cores())
    per_deal = float(played.manifest["seconds"]) / planned.deals
    frame, wish = played.frame, (detect, power, level, metric)  # type: ignore[union-attr]
    found = records(plan_deals(frame, *wish, per_deal, equivalent))
    foretold = records(
        forecast(
            *(frame, *wish, rule),
            family=family,
            most=most,
            cycle=max(block.lineups.cycle for block in planned.blocks),
            seconds_per_deal=per_deal,
        )
    )
    if json_:
        print_json({"plan": found, "forecast": foretold})
    else:
        print_plan(found)
        print_forecast(foretold)
