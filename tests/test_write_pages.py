"""Pages that write themselves: what is printed comes where it stood, and nothing else."""

import pytest
from write_pages import examples, renew


@pytest.mark.parametrize(
    ("shown", "printed", "written"),
    [
        ("a 1\nb 2\n", "a 3\nb 4\n", "a 3\nb 4\n"),
        ("a 1\n...\n", "a 3\nb 4\n", "a 3\n...\n"),
        ("a 1\n...\nz 1\n", "a 3\nb 4\nz 5\n", "a 3\n...\nz 5\n"),
        ("...\nz 1\n", "a 3\nb 4\nz 5\n", "...\nz 5\n"),
        ("head\n│ 1 │ x │\n└─┘\n...\n", "head\n│ 1 │ y │\n│ 2 │ x │\n└──┘\nend\n", None),
        ("a\n7 matches in 0.1 s\n", "a\n7 matches in 9.9 s\n", "a\n7 matches in 0.1 s\n"),
    ],
)
def test_what_is_printed_comes_where_it_stood(shown, printed, written):
    written = written or "head\n│ 1 │ y │\n│ 2 │ x │\n└──┘\n...\n"
    assert renew(shown, printed) == written


def test_a_line_that_is_gone_is_told():
    with pytest.raises(SystemExit, match="no line like this"):
        renew("...\ngone\n", "a\nb\n")


def test_examples_get_what_they_print_and_see_each_other():
    names = {}
    first = examples(">>> x = 1\n>>> def f(): return x\n>>> x + 1\n5\n", "page", names)
    assert first == ">>> x = 1\n>>> def f(): return x\n>>> x + 1\n2\n"
    assert examples(">>> x = 7\n>>> f()\n1\n", "page", names) == ">>> x = 7\n>>> f()\n7\n"
