"""docs/data.md: every column of every frame is there, and what the page does runs as it stands."""

import ast
import os
import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from kozel_sim import RuleSet, compare, duel, rounds_frame, tournament
from kozel_sim.engine.play import new_matches
from kozel_sim.export import write_csv
from kozel_sim.policies import read_policies
from kozel_sim.rounds import rounds_of
from kozel_sim.stats import clustered_mean
from kozel_sim.sweep import effects

PAGE = (Path(__file__).parents[1] / "docs" / "data.md").read_text(encoding="utf-8")
TEXT = ("category", "str", "object")
"""What a column of texts may be, whichever the version of pandas."""


def section(heading):
    """The text below a heading, up to the next."""
    found = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found.group(1)


def table_after(text):
    """The cells of the first table of a text, below its header."""
    rows = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE).group().splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def columns_of(heading):
    """The columns that a section documents: {name: type}."""
    return {name.strip("`"): kind for name, kind, *_ in table_after(section(heading))}


# ---------------------------------------------------------------------- the dictionary


@pytest.fixture(scope="module")
def frames():
    """One of each frame, by its heading; of the matches with and without duels."""
    field = ["random", "dump_heavy", "keep_range"]
    run = tournament(["livegames-goat", "livegames-goat-plain"], field, 10, seed=1, players=3)
    duels = duel("room-fish-all", "dump_heavy", "random", 10, seed=1, players=2)
    policies = read_policies(field[:2])
    matches = new_matches(np.arange(2, dtype=np.uint64), np.array([[0, 1], [1, 0]]))
    sides = np.array([[0, 1], [1, 0]])
    rules = RuleSet.preset("room-fish-all", 2)
    rounds = rounds_of(rules, policies, matches, sides[:, 1], 1, duel="A v B", sides=sides)
    return {
        "The frame of matches": duels.frame,
        "The frame of rounds": rounds,
        "Summaries": run.summary(),
        "Effects of rule variants": effects(run.frame),
        "Comparisons": compare(duels.frame),
    }, run.frame


@pytest.mark.parametrize(
    "heading",
    [
        "The frame of matches",
        "The frame of rounds",
        "Summaries",
        "Effects of rule variants",
        "Comparisons",
    ],
)
def test_page_documents_the_columns_of_a_frame_in_order_with_their_types(heading, frames):
    frame = frames[0][heading]
    documented = columns_of(heading)
    assert list(documented) == list(frame)
    for name, kind in frame.dtypes.astype(str).items():
        assert documented[name] == kind or (documented[name] == "str" and kind in TEXT), name


def test_only_duels_have_what_the_page_says_so_of(frames):
    alone = rounds_frame("room-fish-all", ["random"] * 2, 1, seed=1)
    for heading, frame in (("The frame of matches", frames[1]), ("The frame of rounds", alone)):
        documented = list(columns_of(heading))
        assert [name for name in documented if name not in ("duel", "first")] == list(frame)
        for name in ("duel", "first"):
            (row,) = (r for r in table_after(section("The frame of matches")) if name in r[0])
            assert row[2].startswith("in duels only")


def test_row_of_rounds_takes_as_many_bytes_as_the_page_says(frames):
    frame = frames[0]["The frame of rounds"]
    columns = [frame[name] for name in frame]
    plain = [c.cat.codes if c.dtype == "category" else c for c in columns]
    assert f"(of a duel {sum(c.dtype.itemsize for c in plain)})" in PAGE


def test_every_column_has_a_meaning():
    """But those of the rounds that are the matches' own."""
    for heading in ("The frame of matches", "Summaries", "Comparisons", "Effects of rule variants"):
        assert all(meaning for _, _, meaning in table_after(section(heading)))
    short = [row[0].strip("`") for row in table_after(section("The frame of rounds")) if not row[2]]
    assert set(short) < set(columns_of("The frame of matches"))


# ---------------------------------------------------------------------- what the page does

BLOCKS = re.findall(r"^```(python|sql)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run_page(folder, deals):
    """Run the page's blocks in order in a folder; return (Python's names, what each block shows).

    What it shows is its last line's value, where that is none that it names.
    """
    names, shown = {}, []
    before = Path.cwd()
    os.chdir(folder)
    try:
        for language, block in BLOCKS:
            if language == "sql":
                shown.append(duckdb.sql(block).df())
                continue
            body = ast.parse(block.replace("50_004", str(deals))).body
            last = body.pop() if isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), "data.md", "exec"), names)
            if last is not None:
                shown.append(eval(compile(ast.Expression(last.value), "data.md", "eval"), names))
    finally:
        os.chdir(before)
    return names, shown


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    names, shown = run_page(tmp_path_factory.mktemp("page"), 150)
    names |= {"matches": shown[1].frame, "rounds": shown[1].rounds_frame}
    return names, shown


def test_page_runs_as_it_stands(small):
    names, (_, by_run, by_pandas, by_polars, by_duckdb) = small
    assert by_run.matches == 600
    hands = len(names["hands"])
    assert by_polars["hands"].sum() == by_duckdb["hands"].sum() == hands
    assert by_polars.height == 8
    assert by_duckdb["doubles"].tolist() == [0, 1, 2, 3, 4, 5]
    goats = sum(by_polars["hands"] * by_polars["goat_rate"])
    assert goats == pytest.approx(names["hands"]["goat"].sum())
    effect = names["effect"]
    assert effect.estimate == pytest.approx(by_pandas[True] - by_pandas[False])


def test_interval_in_sql_is_that_of_the_package(small):
    names, (*_, by_duckdb) = small
    hands = names["hands"]
    for row in by_duckdb.itertuples():
        mine = hands[hands["doubles"].clip(upper=5) == row.doubles]
        of_deal = mine.groupby("deal")["goat"]
        found = clustered_mean(of_deal.sum(), of_deal.size(), rate=True)
        assert row.hands == len(mine)
        assert row.goat_rate == pytest.approx(found.estimate, abs=6e-5)
        assert row.std_error == pytest.approx(found.std_error, abs=6e-6)


def test_files_of_the_page_are_the_frames_again(small, tmp_path):
    names, _ = small
    for kind in ("matches", "rounds"):
        path = tmp_path / f"{kind}.parquet"
        names[kind].to_parquet(path, index=False)
        pd.testing.assert_frame_equal(pd.read_parquet(path), names[kind])
        assert pl.read_parquet(path).columns == list(names[kind])
        assert duckdb.read_parquet(str(path)).columns == list(names[kind])


def same_figures(page, found):
    """Tell whether the page's figures are those found, as far as they are written out."""
    return all(
        abs(float(cell) - value) <= 0.5001 * 10.0 ** -len(cell.partition(".")[2])
        for cell, value in zip(page, found, strict=True)
    )


@pytest.mark.slow
def test_page_has_the_figures_that_it_makes(tmp_path):
    names, (*_, by_pandas, by_polars, by_duckdb) = run_page(tmp_path, 50_004)
    text = section("Does a hand of five doubles make a goat?")
    first, second = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    for row, found in zip(table_after(first), by_polars.rows(), strict=True):
        assert row[:2] == [f"`{found[0]}`", "yes" if found[1] else "no"]
        assert same_figures([row[2].replace(",", ""), row[3]], found[2:])
    for row, found in zip(table_after(second), by_duckdb.to_numpy(), strict=True):
        assert same_figures([cell.replace(",", "") for cell in row], found)
    effect = names["effect"]
    figures = re.findall(r"\d+\.\d+", text.rpartition("```")[2].partition("percentage")[0])
    wanted = [by_pandas[True], by_pandas[False], effect.estimate, effect.ci_low, effect.ci_high]
    assert same_figures(figures, [100 * value for value in wanted])


# ---------------------------------------------------------------------- CSV


@pytest.mark.parametrize("kind", ["matches", "rounds"])
def test_csv_is_the_frame_again(kind, small, tmp_path):
    frame = small[0][kind].reset_index(drop=True)
    if kind == "matches":
        frame.loc[:3, "rating"] = np.nan
    path = tmp_path / "frame.csv"
    write_csv([frame], path)
    again = pd.read_csv(path, dtype=frame.dtypes.to_dict())
    for column in frame.select_dtypes("category"):
        again[column] = again[column].cat.set_categories(frame[column].cat.categories)
    pd.testing.assert_frame_equal(again, frame)
    header, line = path.read_text(encoding="utf-8").splitlines()[:2]
    assert header == ",".join(f'"{name}"' for name in frame)
    assert line.startswith('"room-fish-all[redeal=none]",4,0,0,0,0,')
    assert {"true", "false"} >= set(re.findall("(?i)true|false", line)) > set()
    by_polars, by_duckdb = pl.read_csv(path), duckdb.read_csv(str(path)).pl()
    for found in (by_polars, by_duckdb):
        assert found["goat"].to_list() == frame["goat"].tolist()
        assert found["policy"].to_list() == frame["policy"].tolist()


def test_frames_are_written_one_behind_the_other(small, tmp_path):
    frame = small[0]["rounds"]
    write_csv([frame], tmp_path / "one.csv")
    write_csv((frame[i : i + 1000] for i in range(0, len(frame), 1000)), tmp_path / "many.csv")
    assert (tmp_path / "many.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()


def test_frames_of_one_file_have_the_same_columns(small, tmp_path):
    frame = small[0]["rounds"]
    with pytest.raises(
        ValueError, match=r"need the same columns: .* goat, and then preset, .* pot$"
    ):
        write_csv([frame, frame.loc[:, :"pot"]], tmp_path / "a.csv")
    with pytest.raises(ValueError, match="there is no frame to write"):
        write_csv([], tmp_path / "none.csv")
    assert not (tmp_path / "none.csv").exists()
