"""docs/variants.md, tips.md and tell.md: their tables are what the studies say."""

import pytest
import study_pages
from pages import read


@pytest.mark.slow
def test_tables_are_what_the_studies_say():
    """If not: ``python tests/study_pages.py``, and read the text against the new figures."""
    for name, tables in study_pages.studies().items():
        text = read(f"docs/{name}")
        assert study_pages.page_of(text, tables) == text, name


def test_a_page_gets_its_tables_and_keeps_its_text():
    text = "before\n<!-- tips: alone -->\nold\n<!-- end -->\nafter\n"
    made = study_pages.page_of(text, {"tips: alone": "| new |"})
    assert made == "before\n<!-- tips: alone -->\n| new |\n<!-- end -->\nafter\n"
    with pytest.raises(AssertionError, match="marks"):
        study_pages.page_of(text, {"tips: alone": "", "tips: added": ""})
