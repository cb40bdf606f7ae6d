"""Compiled sums: what finished matches add up to, deal by deal, and products of these sums."""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, kernel, part
from kozel_sim.engine.bits import popcount
from kozel_sim.engine.layout import BLOCK, GAME

ROUNDS, FISH, CAPPED, GOATS, SEVERAL, GOAT_POINTS, PASSES, DRAWS, LED_GOATS = range(1, len(GAME))


@kernel
def tally_matches(
    rules,
    matches,
    per_deal,
    kinds,
    ratings,
    sums,
    products,
    of_first,
    with_first,
    rated_deals,
    points,
    rounds,
    lists,
):
    """Add up played matches: products of each two of a deal's sums, ``[column, column]``.

    Sums ``[block, column * deal]`` are left behind if there is room for all blocks. Of_first has
    those of another rule set for the same deals, and with_first the products with them. Counted
    are points ``[kind, bin]`` and rounds ``[bin]``, ends open, and rated_deals ``[kind]``, the
    deals with a rating. Kinds numbers the policies by name; ratings is by points, and empty where
    rules do not rate. Lists ``[2, column + 1]`` is room for lists of columns.
    """
    deals = matches.size // per_deal
    width = (4 if ratings.size else 2) * BLOCK
    columns, others = sums.shape[1] // BLOCK, with_first.shape[1]
    for block in range(-(-deals // BLOCK)):
        here = sums[min(block, sums.shape[0] - 1)]
        first = block * BLOCK
        n = min(BLOCK, deals - first)
        here[:] = 0
        part = matches[first * per_deal : (first + n) * per_deal]
        tally_block(rules, part, per_deal, kinds, ratings, here, points, rounds)
        if ratings.size:
            for kind in range(rated_deals.size):
                rated = len(GAME) * BLOCK + kind * width + 3 * BLOCK
                for d in range(rated, rated + n):
                    rated_deals[kind] += here[np.uint64(d)] > 0
        multiply_block(here, here, columns, columns, n, products, True, lists)
        if others:
            multiply_block(here, of_first[block], columns, others, n, with_first, False, lists)
    for j in range(columns):
        for k in range(j):
            products[k, j] = products[j, k]


@part
def tally_block(rules, matches, per_deal, kinds, ratings, sums, points, rounds):
    """Add the matches of some deals to their sums, flat ``[column * deal]``."""
    n = np.int64(rules.players)
    seats_of_a_side = n // rules.sides
    # A seat's side, without dividing: in pairs every other seat's.
    ones = np.int64(1 if rules.sides < n else 3)
    rates = ratings.size > 0
    width = np.int64((4 if rates else 2) * BLOCK)
    last_rating = np.int64(ratings.size - 1)
    last_points = np.int64(points.shape[1] - 1)
    last_rounds = np.int64(rounds.size - 1)
    for d in range(matches.size // per_deal):
        all_rounds = fish = capped = goats = several = 0
        goat_points = passes = draws = led_goats = 0
        for i in range(d * per_deal, (d + 1) * per_deal):
            match = matches[np.uint64(i)]
            goat_sides = np.int64(match.goats)
            rated = np.int64(match.capped == 0)
            for s in range(4):
                if s >= n:
                    break
                side = s & ones
                kind = np.int64(kinds[np.uint64(match.players[np.uint64(s)])])
                score = np.int64(match.points[np.uint64(side)])
                goat = goat_sides >> side & 1
                goat_points += goat * score
                at = len(GAME) * BLOCK + kind * width + d
                sums[np.uint64(at)] += goat
                sums[np.uint64(at + BLOCK)] += score
                if rates:
                    rating = ratings[min(score, last_rating)] * (1 - goat) * rated
                    sums[np.uint64(at + 2 * BLOCK)] += rating
                    sums[np.uint64(at + 3 * BLOCK)] += rated
                points[np.uint64(kind), np.uint64(max(0, min(score, last_points)))] += 1
            # Of absent seats they are 0.
            for s in range(4):
                passes += match.passes[s]
                draws += match.draws[s]
            goats += popcount(goat_sides)
            several += popcount(goat_sides) > 1
            led_goats += goat_sides >> (np.int64(match.first_leader) & ones) & 1
            all_rounds += match.rounds
            fish += match.fish_rounds
            capped += 1 - rated
            rounds[np.uint64(min(np.int64(match.rounds), last_rounds))] += 1
        at = np.uint64(d)
        sums[at] = 1
        sums[at + np.uint64(ROUNDS * BLOCK)] = all_rounds
        sums[at + np.uint64(FISH * BLOCK)] = fish
        sums[at + np.uint64(CAPPED * BLOCK)] = capped
        sums[at + np.uint64(GOATS * BLOCK)] = goats * seats_of_a_side
        sums[at + np.uint64(SEVERAL * BLOCK)] = several
        sums[at + np.uint64(GOAT_POINTS * BLOCK)] = goat_points
        sums[at + np.uint64(PASSES * BLOCK)] = passes
        sums[at + np.uint64(DRAWS * BLOCK)] = draws
        sums[at + np.uint64(LED_GOATS * BLOCK)] = led_goats


@inlined
def list_used(sums, columns, used):
    """List the columns of a block that are not all 0; return how many, and the bits in use."""
    n = 0
    whole = np.int64(0)
    for column in range(columns):
        bits = np.int64(0)
        for d in range(column * BLOCK, (column + 1) * BLOCK):
            x = sums[np.uint64(d)]
            bits |= x | (x ^ x >> 63) << 1
        used[n] = column * BLOCK
        n += bits != 0
        whole |= bits
    return n, whole


@inlined
def low(number):
    """Return a number of 32 bits as what vectors of such are multiplied by in one instruction."""
    return np.int64(np.int32(number))


@part
def multiply_block(left, right, lefts, rights, deals, products, lower, lists):
    """Add products of a block's sums, flat ``[column * deal]``; lower: the lower half of a square.

    Two columns and two at a time: fewer loads than one by one.
    """
    mine, others = lists[0], lists[1]
    # Whole vectors; sums of deals that are not there are 0.
    width = (deals + 15) // 16 * 16
    n, used = list_used(left, lefts, mine)
    if lower:
        n_others, others = n, mine
    else:
        n_others, more = list_used(right, rights, others)
        used |= more
    # The last one of an odd number goes twice, and counts once.
    mine[n], others[n_others] = mine[n - 1], others[n_others - 1]
    for i in range(0, n, 2):
        a, b = mine[i], mine[i + 1]
        for h in range(0, i + 1 if lower else n_others, 2):
            c, e = others[h], others[h + 1]
            ac = ae = bc = be = np.int64(0)
            if used >> 32 == 0:
                for d in range(width):
                    x, y = low(left[np.uint64(a + d)]), low(left[np.uint64(b + d)])
                    v, w = low(right[np.uint64(c + d)]), low(right[np.uint64(e + d)])
                    ac += x * v
                    ae += x * w
                    bc += y * v
                    be += y * w
            else:
                for d in range(width):
                    x, y = left[np.uint64(a + d)], left[np.uint64(b + d)]
                    v, w = right[np.uint64(c + d)], right[np.uint64(e + d)]
                    ac += x * v
                    ae += x * w
                    bc += y * v
                    be += y * w
            j, k, m, o = a // BLOCK, b // BLOCK, c // BLOCK, e // BLOCK
            products[j, m] += ac
            if o > m and (o <= j or not lower):
                products[j, o] += ae
            if k > j:
                products[k, m] += bc
                if o > m:
                    products[k, o] += be
