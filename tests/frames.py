"""Frames of matches that were never played: their outcomes are made up."""

from itertools import combinations

import numpy as np
import pandas as pd


def frame_of(players, deals, policies, points, sides=None):
    """A run's frame from who sat where and with how many points, ``[match, seat]``.

    The side with the most points is the goat; sides are seats if they are not given.
    """
    points, policies = np.asarray(points), np.asarray(policies, dtype=object)
    sides = np.arange(players) if sides is None else np.asarray(sides)
    goat = points == points.max(axis=1, keepdims=True)
    matches = len(points)
    deals = np.asarray(deals)
    return pd.DataFrame(
        {
            "preset": pd.Categorical(["made-up"] * (matches * players)),
            "players": np.full(matches * players, players, np.int8),
            "deal": np.repeat(deals, players),
            "seating": np.repeat(pd.Series(deals).groupby(deals).cumcount().to_numpy(), players),
            "seat": np.tile(np.arange(players), matches),
            "side": np.tile(sides, matches),
            "policy": policies.ravel(),
            "points": points.ravel(),
            "points_win": np.zeros(matches * players, bool),
            "goat": goat.ravel(),
            "winner": ~goat.ravel(),
            "rounds": np.full(matches * players, 5),
            "fish_rounds": np.zeros(matches * players, int),
            "rating": np.full(matches * players, np.nan),
            "led": np.tile(np.arange(players) == 0, matches),
            "capped": np.zeros(matches * players, bool),
        }
    )


def field_frame(merits, deals, players=2, seed=0, luck=10.0, seat_luck=0.0, shared=0.0):
    """A tournament: every table of the field from every seat, points lower for more merit.

    The luck of a seat in a match is ``luck``, of a seat in all matches of a deal ``seat_luck``, of
    a policy in all matches of a deal ``shared``.
    """
    rng = np.random.default_rng(seed)
    names = list(merits)
    worth = np.array([merits[name] for name in names])
    tables = np.array(list(combinations(range(len(names)), players)))
    turns = (np.arange(players)[:, None] + np.arange(players)) % players
    seated = tables[:, turns].reshape(-1, players)
    n = len(seated)
    of_seat = rng.normal(0, seat_luck, (deals, 1, players))
    of_policy = rng.normal(0, shared, (deals, len(names)))[:, seated]
    points = 50 - worth[seated] + of_seat + of_policy
    points = points + rng.normal(0, luck, (deals, n, players))
    policies = np.array(names, dtype=object)[np.tile(seated, (deals, 1))]
    return frame_of(players, np.repeat(np.arange(deals), n), policies, points.reshape(-1, players))


def duel_frame(gaps, deals, seed=0, luck=10.0):
    """Duels of two players, from both seats: ``gaps[first, second]`` more points for the second."""
    rng = np.random.default_rng(seed)
    frames = []
    for (first, second), gap in gaps.items():
        seats = np.tile(np.array([[first, second], [second, first]], dtype=object), (deals, 1))
        more = np.where(seats == second, gap, 0.0)
        points = 50 + more + rng.normal(0, luck, seats.shape)
        frame = frame_of(2, np.repeat(np.arange(deals), 2), seats, points)
        frames.append(frame.assign(duel=f"{first} v {second}"))
    return pd.concat(frames, ignore_index=True)
