"""docs/policies.md names every feature, trigger and built-in policy, as the code has them."""

from pathlib import Path

import pytest

from kozel_sim import get_policy
from kozel_sim.features import FEATURES, TRIGGERS
from kozel_sim.policies.builtin import BUILTIN

PAGE = (Path(__file__).parents[1] / "docs" / "policies.md").read_text(encoding="utf-8")
KNOWN = (
    [f"| `{name}` | {feature.meaning} |" for name, feature in FEATURES.items()]
    + [f"| `{name}` | {trigger.meaning} |" for name, trigger in TRIGGERS.items()]
    + [
        f"| `{name}` | {f'`{stages}`' if stages else '-'} | {doc} | {source} |"
        for name, (stages, doc, source) in BUILTIN.items()
    ]
)


@pytest.mark.parametrize("line", KNOWN)
def test_page_has_the_line(line):
    assert line in PAGE.splitlines()


def test_specs_of_the_page_can_be_read():
    block = PAGE.split("```")[1]
    specs = [line.split("  ")[0] for line in block.strip().splitlines()]
    assert len(specs) == 3
    for spec in specs:
        assert get_policy(spec).name == spec
