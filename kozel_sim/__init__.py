"""Monte Carlo strategy research for Kozel, the domino game."""
