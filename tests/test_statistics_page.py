"""docs/statistics.md: its lines run as they stand, and its links lead somewhere."""

import doctest
import re
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "statistics.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```pycon\n(.*?)```", PAGE, re.DOTALL)


def test_snippets_run_as_they_stand():
    text = "\n".join(SNIPPETS)
    assert text.count(">>> ") == PAGE.count(">>> ")
    test = doctest.DocTestParser().get_doctest(text, {}, "docs/statistics.md", None, None)
    report: list[str] = []
    flags = doctest.NORMALIZE_WHITESPACE
    results = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert results.attempted > 25
    assert not results.failed, "".join(report)


def test_links_within_the_page_lead_somewhere():
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
    links = set(re.findall(r"\]\(#([^)]+)\)", PAGE))
    assert len(links) == 10
    assert links <= anchors
