"""Policies: the registry, the built-ins, specs, and users' functions."""

from kozel_sim.policies.builtin import FIELD
from kozel_sim.policies.registry import (
    POLICIES,
    get_policy,
    ladder,
    list_policies,
    load_code,
    policy,
    policy_table,
    read_policies,
)
from kozel_sim.policies.spec import split_specs
from kozel_sim.policies.travel import describe_policy, find_policy, rebuild_policy

__all__ = [
    "FIELD",
    "POLICIES",
    "describe_policy",
    "find_policy",
    "get_policy",
    "ladder",
    "list_policies",
    "load_code",
    "policy",
    "policy_table",
    "read_policies",
    "rebuild_policy",
    "split_specs",
]
