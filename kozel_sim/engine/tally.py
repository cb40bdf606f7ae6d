"""Compiled sums: what finished matches add up to, deal by deal, and products of these sums."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import kernel

GAME = (
    "deals",
    "rounds",
    "fish_rounds",
    "capped",
    "goats",
    "several_goats",
    "goat_points",
    "passes",
    "draws",
    "led_goats",
)
"""A deal's sums over its matches, in the order of their columns; deals is 1."""
ROUNDS, FISH, CAPPED, GOATS, SEVERAL, GOAT_POINTS, PASSES, DRAWS, LED_GOATS = range(1, len(GAME))
OF_A_POLICY = ("goat", "points", "rating", "rated")
"""A deal's sums over the seats of a policy: the columns behind, so many for each policy. Rated
counts the seats with a rating; the last two are there only where the rules rate."""


@kernel
def tally_matches(rules, matches, per_deal, kinds, ratings, sums, rated_deals, points, rounds):
    """Add to sums ``[deal, column]``; count points ``[kind, bin]`` and rounds ``[bin]``, ends open.

    Kinds numbers the policies by name; ratings is by points, and empty where rules do not rate.
    Rated_deals ``[kind]`` counts the deals with a rating.
    """
    n = np.int64(rules.players)
    rates = ratings.size > 0
    width = 4 if rates else 2
    last_rating = np.int64(ratings.size - 1)
    last_points = np.int64(points.shape[1] - 1)
    last_rounds = np.int64(rounds.size - 1)
    for d in range(matches.size // per_deal):
        all_rounds = fish = capped = goats = several = 0
        goat_points = passes = draws = led_goats = 0
        for i in range(d * per_deal, (d + 1) * per_deal):
            match = matches[i]
            goats_here = 0
            for s in range(n):
                seat = np.uint64(s)
                side = np.uint64(s % rules.sides)
                kind = kinds[np.uint64(match.players[seat])]
                score = np.int64(match.points[side])
                goat = np.int64(match.goats) >> np.int64(side) & 1
                goats_here += goat
                goat_points += goat * score
                passes += match.passes[seat]
                draws += match.draws[seat]
                led_goats += goat * (match.first_leader == s)
                at = np.uint64(len(GAME) + kind * width)
                sums[d, at] += goat
                sums[d, at + np.uint64(1)] += score
                if rates and not match.capped:
                    rating = 0 if goat else ratings[min(score, last_rating)]
                    sums[d, at + np.uint64(2)] += rating
                    sums[d, at + np.uint64(3)] += 1
                points[kind, np.uint64(max(0, min(score, last_points)))] += 1
            goats += goats_here
            several += goats_here * rules.sides > n
            all_rounds += match.rounds
            fish += match.fish_rounds
            capped += match.capped
            rounds[np.uint64(min(np.int64(match.rounds), last_rounds))] += 1
        if rates:
            for kind in range(rated_deals.size):
                rated_deals[kind] += sums[d, np.uint64(len(GAME) + kind * width + 3)] > 0
        sums[d, 0] = 1
        sums[d, ROUNDS] += all_rounds
        sums[d, FISH] += fish
        sums[d, CAPPED] += capped
        sums[d, GOATS] += goats
        sums[d, SEVERAL] += several
        sums[d, GOAT_POINTS] += goat_points
        sums[d, PASSES] += passes
        sums[d, DRAWS] += draws
        sums[d, LED_GOATS] += led_goats


@kernel
def add_products(left, right, products, lower):
    """Add products of the sums of each deal, ``[deal, column]``, to products ``[left, right]``.

    Lower fills the lower triangle alone. The number of deals is a multiple of 4: four at a time
    spare three of four additions in memory.
    """
    for d in range(0, left.shape[0], 4):
        for j in range(left.shape[1]):
            a, b, c, e = left[d, j], left[d + 1, j], left[d + 2, j], left[d + 3, j]
            if a | b | c | e:
                for k in range(j + 1 if lower else right.shape[1]):
                    products[j, k] += (
                        a * right[d, k]
                        + b * right[d + 1, k]
                        + c * right[d + 2, k]
                        + e * right[d + 3, k]
                    )
