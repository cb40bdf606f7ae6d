"""The engine's entry points: what Python calls, and the modules they are in.

A kernel's module needs numba, so nobody imports it but who compiles.
"""

from __future__ import annotations

from kozel_sim._native import Entry

play_matches = Entry("kozel_sim.engine.match", "play_matches")
play_lockstep = Entry("kozel_sim.engine.lockstep.match", "play_lockstep")
tally_matches = Entry("kozel_sim.engine.tally", "tally_matches")
read_rounds = Entry("kozel_sim.engine.rounds", "read_rounds")
ask = Entry("kozel_sim.engine.asking", "ask")
count_kernel = Entry("kozel_sim.engine.worlds", "count_kernel")
sample_kernel = Entry("kozel_sim.engine.worlds", "sample_kernel")
watch_matches = Entry("kozel_sim.engine.tells", "watch_matches")
