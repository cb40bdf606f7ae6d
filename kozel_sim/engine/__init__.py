"""The compiled engine; the twin of ``kozel_sim.reference``."""
