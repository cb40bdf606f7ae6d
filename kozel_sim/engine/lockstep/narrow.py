"""Ladders of sixteen matches: the vector twin of ``engine.features`` and ``engine.decide``.

Only features on a chain of two ends, where a move is one tile; those that are the same for all
moves of a position do not matter.
"""

from __future__ import annotations

from collections import namedtuple

from kozel_sim._jit import inlined, part
from kozel_sim.engine.layout import TRIGGER_INDEX
from kozel_sim.engine.lockstep.layout import (
    ACCOUNT,
    BOOK_TILES,
    BOOK_WIDTH,
    DEAL_HIGH,
    DEAL_LOW,
    LANES,
    OPENED,
    ROUND,
    VECTOR_BYTES,
)
from kozel_sim.engine.lockstep.luck import HAS_TILES
from kozel_sim.engine.lockstep.vector import (
    bits,
    divide,
    gather,
    index_of,
    lane_numbers,
    load,
    load_word,
    look_up,
    pick_from,
    select,
    some,
    splat,
    threefry,
)
from kozel_sim.engine.stages import (
    ALWAYS,
    BLOCK,
    COVER,
    EVEN_HAND,
    FEWEST_VOID,
    FISH,
    FISH_AHEAD,
    FISH_BEHIND,
    HOLD_LAST,
    LEGAL_DOUBLE,
    LOCK,
    LONE,
    LONG_SUIT,
    LONGEST,
    MATCH,
    NEXT_TELL,
    NEXT_VOID,
    OWN_NEAR,
    PARTNER_VOID,
    RANGE,
    RIVAL_LOW,
    RIVAL_NEAR,
    STRAND_DOUBLE,
    SUITS,
    UNSEEN,
    VOIDS,
)
from kozel_sim.features import FEW, NEAR
from kozel_sim.rng import OWN
from kozel_sim.tiles import ALL, DOUBLES, HAS, LOW, PIPS

FENCED = TRIGGER_INDEX["fenced"]
LONGEST_SUIT = 1 << LONGEST | 1 << MATCH | 1 << COVER
NONE = 7
"""What both ends of an empty table show."""
WORST = -(2**31)
SIGN = 1 << 31
fitting = look_up((*HAS, 0))
low_of = look_up(LOW)
pips_of = look_up(PIPS)

Position = namedtuple(
    "Position", "hand left_end right_end table unseen led leads counts voids tells"
)
"""What the moves are measured against. counts, voids, tells: a byte for each seat, mine first, then
the next to act. led are the lanes whose table is empty, leads tells whether there are any."""
Suits = namedtuple("Suits", "n_values longest suit top ones")
"""How many values are held, the size and the value of the longest suit, the values that most tiles
carry, and those that one carries. A score counts what a move takes from them: the rest is the same
for all moves."""
Lacks = namedtuple("Lacks", "follower told partner fewest")
"""Masks over the values that a seat is known to lack."""
Weights = namedtuple(
    "Weights",
    "range longest block match cover lock unseen next_void next_tell partner_void fewest_void "
    "strand hold ahead behind",
)


@inlined
def around(packed, seat, players):
    """Turn a word with a byte for each seat, so that a seat's own comes first."""
    shift = seat << 3
    return packed >> shift | packed << (8 * players - 8 - shift) << 8


@part
def count_suits(hand, with_longest):
    """Count the tiles of each value."""
    held = ones = top = suit = longest = splat(0)
    for value in range(7):
        count = bits(hand & HAS_TILES[value])
        held |= select(count > 0, 1 << value, 0)
        ones |= select(count == 1, 1 << value, 0)
        longest = select(count > longest, count, longest)
    for value in range(7 * with_longest):
        most = bits(hand & HAS_TILES[value]) == longest
        top |= select(most, 1 << value, 0)
        suit = select(most, value, suit)
    return bits(held), longest, suit, top, ones


@inlined
def fewest_rival(p, players, pairs):
    """Return (tiles, steps from me) of the rival with the fewest tiles; of equals the next."""
    best = splat(1 << 20)
    for step in range(1, players):
        if not (pairs and step == 2):
            of_step = (p.counts >> 8 * step & 0xFF) << 8 | step
            best = select(of_step < best, of_step, best)
    return best >> 8, best & 0xFF


@part
def count_pips(mask):
    """Sum the pips of the tiles of masks."""
    pips = splat(0)
    for value in range(1, 7):
        tiles = mask & HAS_TILES[value]
        pips += (bits(tiles) + (mask >> value & 1)) * value
    return pips


@part
def fish_lead(players, pairs, unseen, counts, theirs, rest):
    """Return by how many pips the rivals' count is estimated to exceed mine."""
    pips = count_pips(unseen)
    size = bits(unseen)
    size = select(size == 0, 1, size)
    mine = count_pips(rest)
    if pairs:
        mine += divide((counts >> 16 & 0xFF) * pips, size)
        theirs = (counts >> 8 & 0xFF) + (counts >> 24)
    return divide(theirs * pips, size) - mine


@inlined
def pick_part(plan, block, first, k0, k1, event):
    """Return which part of each player decides, by the word that is for mixtures."""
    words = threefry(
        load(block + ROUND), event, 0, OWN, k0, k1, load(block + DEAL_LOW), load(block + DEAL_HIGH)
    )
    word = words[0] ^ SIGN
    part = first
    on = part == part
    for _ in range(plan.mixes):
        on &= word > gather(plan.limits, part, on)
        part = select(on, part + 1, part)
    return part


@inlined
def in_block(block, row, index):
    """Return one of the rows from `row` on, by lane."""
    return gather(block + row, lane_numbers() + index * LANES, index == index)


@inlined
def holds(players, sides, target, plan, stage, block, page, p, suits, legal, seat):
    """Tell where a stage's trigger holds."""
    kinds = plan.triggers[stage]
    trigger = read(plan, page, 0)
    held = trigger == ALWAYS
    if kinds >> EVEN_HAND & 1:
        held |= (trigger == EVEN_HAND) & (suits.n_values >= 6) & (suits.longest <= 3)
    if kinds >> LONG_SUIT & 1:
        half = (bits(p.hand) + 1) >> 1
        held |= (trigger == LONG_SUIT) & (suits.longest >= 3) & (suits.longest >= half)
    if kinds >> LEGAL_DOUBLE & 1:
        held |= (trigger == LEGAL_DOUBLE) & ((legal & DOUBLES) != 0)
    pairs = sides < players
    if kinds >> RIVAL_LOW & 1:
        held |= (trigger == RIVAL_LOW) & (fewest_rival(p, players, pairs)[0] <= FEW)
    if kinds >> OWN_NEAR & 7:
        own = seat & 1 if pairs else seat
        closed = (load(block + OPENED) >> own & 1) == 0
        near = target - in_block(block, ACCOUNT, own) <= NEAR
        held |= (trigger == OWN_NEAR) & near
        near = own != own
        for side in range(sides):
            left = target - load(block + ACCOUNT + VECTOR_BYTES * side)
            near |= (own != side) & (left <= NEAR)
        held |= (trigger == RIVAL_NEAR) & near
        held |= (trigger == FENCED) & closed
    return held


@inlined
def read(plan, page, column):
    """Return one column of a stage's rows, by lane."""
    address, rows = page
    if plan.alike:
        return splat(load_word(address + 4 * column))
    return gather(address + 4 * column, rows, rows == rows)


@inlined
def weight(plan, page, used, feature):
    """Return a feature's weights, by lane."""
    if plan.alike or used >> feature & 1:
        return read(plan, page, 1 + feature)
    return splat(0)


@inlined
def read_weights(plan, page, used):
    """Return the weights of all features of a stage."""
    return Weights(
        weight(plan, page, used, RANGE),
        weight(plan, page, used, LONGEST),
        weight(plan, page, used, BLOCK),
        weight(plan, page, used, MATCH),
        weight(plan, page, used, COVER),
        weight(plan, page, used, LOCK),
        weight(plan, page, used, UNSEEN),
        weight(plan, page, used, NEXT_VOID),
        weight(plan, page, used, NEXT_TELL),
        weight(plan, page, used, PARTNER_VOID),
        weight(plan, page, used, FEWEST_VOID),
        weight(plan, page, used, STRAND_DOUBLE),
        weight(plan, page, used, HOLD_LAST),
        weight(plan, page, used, FISH_AHEAD),
        weight(plan, page, used, FISH_BEHIND),
    )


@inlined
def ends_in(values, end, kept):
    """Count which of two ends are in masks of values."""
    return (values >> end & 1) + (values >> kept & 1)


@inlined
def score(players, pairs, six_closed, used, w, p, suits, lacks, fewest, on_left, bit, tile, alone):
    """Return the weighted features of a move, in thousandths."""
    covered = select(on_left, p.left_end, p.right_end)
    kept = select(on_left, p.right_end, p.left_end)
    if p.leads:
        # As good as laid on its own low half, which stays an end.
        low = low_of(tile)
        covered = select(p.led, low, covered)
        kept = select(p.led, low, kept)
    end = pips_of(tile) - covered
    rest = p.hand ^ bit
    fits = fitting(end) | fitting(kept)
    total = alone + w.lock * bits(rest & fits)
    single = end == kept
    total += select(single, w.block, 0)
    if used & SUITS:
        values = splat(1) << covered | splat(1) << end
        total -= w.range * bits(suits.ones & values)
        if used & LONGEST_SUIT:
            shorter = (suits.top & ~values) == 0
            total -= select(shorter, w.longest, 0)
            total += select(end == suits.suit, w.match, 0) + select(kept == suits.suit, w.match, 0)
            total += select((covered == suits.suit) & ~p.led, w.cover, 0)
    if used >> UNSEEN & 1:
        total += w.unseen * bits(p.unseen & fits)
    if used & VOIDS:
        total += w.next_void * ends_in(lacks.follower, end, kept)
        total += w.next_tell * ends_in(lacks.told, end, kept)
        if pairs:
            total += w.partner_void * ends_in(lacks.partner, end, kept)
        if used >> FEWEST_VOID & 1:
            total += w.fewest_void * ends_in(lacks.fewest, end, kept)
    if used & LONE:
        unseen = p.unseen & fitting(covered)
        total -= select((unseen == 0) & ~p.led, w.hold, 0)
        strands = (unseen == splat(1) << covered) & ~p.led & (end != covered) & (kept != covered)
        strands &= bits(p.hand & fitting(covered)) == 1
        total += select(strands, w.strand, 0)
    if used & FISH:
        out_there = fits & ~(p.table | bit)
        fish = (bit != 0) & (rest != 0)
        if six_closed:
            fish &= (out_there == 0) | (((out_there & ~DOUBLES) == 0) & single)
        else:
            fish &= out_there == 0
        if some(fish):
            lead = fish_lead(players, pairs, p.unseen, p.counts, fewest, rest)
            total += select(fish, lead * select(lead > 0, w.ahead, 0 - w.behind), 0)
    return total


@inlined
def narrow_stage(plan, players, pairs, six_closed, used, page, p, suits, lacks, fewest, which,
                 left, right):  # fmt: skip
    """Keep the moves with the highest score of one stage, in some lanes."""
    w = read_weights(plan, page, used)
    address, rows = page
    low_tiles = high_tiles = splat(0)
    if plan.alike:
        low_tiles = load(address + 4 * BOOK_TILES)
        high_tiles = load(address + 4 * BOOK_TILES + VECTOR_BYTES)
    todo_left = select(which, left, 0)
    todo_right = select(which, right, 0)
    best = splat(WORST)
    best_left = best_right = splat(0)
    while some((todo_left | todo_right) != 0):
        on_left = todo_left != 0
        todo = select(on_left, todo_left, todo_right)
        bit = todo & (0 - todo)
        todo_right = select(on_left, todo_right, todo_right & (todo_right - 1))
        todo_left &= todo_left - 1
        tile = index_of(bit)
        if plan.alike:
            alone = pick_from(low_tiles, high_tiles, tile)
        else:
            alone = gather(address + 4 * BOOK_TILES, rows + tile, bit != 0)
        value = score(
            players, pairs, six_closed, used, w, p, suits, lacks, fewest, on_left, bit, tile, alone
        )
        better = (bit != 0) & (value > best)
        bit = select(value >= best, bit, 0)
        best_left = select(better, 0, best_left) | select(on_left, bit, 0)
        best_right = select(better, 0, best_right) | select(on_left, 0, bit)
        best = select(better, value, best)
    return select(which, best_left, left), select(which, best_right, right)


@part
def narrow(
    players, sides, target, six_closed, plan, block, several, hand, left, right, left_end,
    right_end, table, counts, voids, tells, part, seat,
):  # fmt: skip
    """Return the legal moves on each end that survive the ladders, where there are several.

    counts, voids and tells have a byte for each seat, that of the one to act first.
    """
    pairs = sides < players
    unseen = ALL & ~(table | hand)
    led = left_end == NONE
    p = Position(
        hand, left_end, right_end, table, unseen, led, some(led & several), counts, voids, tells
    )
    suits = Suits(splat(0), splat(0), splat(0), splat(0), splat(0))
    if plan.needs & SUITS:
        n_values, longest, suit, top, ones = count_suits(hand, plan.needs & LONGEST_SUIT != 0)
        suits = Suits(n_values, longest, suit, top, ones)
    fewest = splat(0)
    told = of_fewest = splat(0)
    if plan.needs & (FISH | 1 << FEWEST_VOID):
        fewest, step = fewest_rival(p, players, pairs)
        of_fewest = voids >> (step << 3) & 0x7F
    if plan.needs & VOIDS:
        told = (tells & ~voids) >> 8 & 0x7F
    lacks = Lacks(voids >> 8 & 0x7F, told, voids >> 16 & 0x7F, of_fewest)
    legal = left | right
    rows = part * BOOK_WIDTH
    for stage in range(plan.depth):
        page = (plan.book + stage * plan.stage_bytes, rows)
        which = bits(left) + bits(right) > 1
        which &= several & holds(
            players, sides, target, plan, stage, block, page, p, suits, legal, seat
        )
        if some(which):
            left, right = narrow_stage(
                plan, players, pairs, six_closed, plan.used[stage], page, p, suits, lacks, fewest,
                which, left, right,
            )  # fmt: skip
    return left, right
