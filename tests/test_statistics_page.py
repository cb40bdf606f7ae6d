"""docs/statistics.md: its lines run as they stand, and its links lead somewhere."""

import re

import pages

PAGE = pages.read("docs/statistics.md")


def test_snippets_run_as_they_stand():
    pages.doctests(PAGE, "docs/statistics.md", least=40)


def test_links_lead_somewhere():
    assert len(set(re.findall(r"\]\(#([^)]+)\)", PAGE))) == 12
    assert pages.broken_links("docs/statistics.md") == []
