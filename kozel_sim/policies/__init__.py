"""Policies: the registry, the built-ins, specs, and users' functions."""

from kozel_sim.policies.builtin import FIELD
from kozel_sim.policies.registry import (
    get_policy,
    ladder,
    list_policies,
    load_code,
    policy,
    policy_table,
    read_policies,
)
from kozel_sim.policies.spec import split_specs, write_ladder

__all__ = [
    "FIELD",
    "get_policy",
    "ladder",
    "list_policies",
    "load_code",
    "policy",
    "policy_table",
    "read_policies",
    "split_specs",
    "write_ladder",
]
