"""Hidden hands, counted and sampled: the compiled twin of ``kozel_sim.worlds``.

Legend
------
place     where a hidden tile may be: another hand, or the bazaar.
world     one way to deal the hidden tiles to the places, each as full as it is.
state     how many tiles the places still take, as one number: a digit for each place but the
          roomiest, which takes what the others leave.
ways      ways[tile, state]: in how many ways this tile and all after it fill a state exactly.

The number of worlds fits a 64-bit integer: it is greatest for 28 tiles in five places of 5, 5, 6, 6
and 6, where it is 5.7e16.
"""

from __future__ import annotations

import numpy as np

from kozel_sim._jit import inlined, kernel, part
from kozel_sim.engine.bits import lowest, write_run
from kozel_sim.engine.luck import run_word
from kozel_sim.rng import WORLD
from kozel_sim.tiles import N_TILES

MAX_PLACES = 5
MAX_STATES = 7 * 7 * 6 * 6
"""Reached by 28 tiles in places of 5, 5, 6, 6 and 6."""
MAX_WORLDS = 1 << 29
"""A world takes eight blocks of random words, and blocks are numbered with 32 bits."""

WORLDS = np.dtype(
    [
        ("hidden", "u4"),
        ("places", "i8"),
        ("capacity", "i8", (MAX_PLACES,)),
        ("forbidden", "u4", (MAX_PLACES,)),
        ("tiles", "i8"),
        ("bit", "u4", (N_TILES,)),
        ("allowed", "i8", (N_TILES,)),
        ("states", "i8"),
        ("stride", "i8", (MAX_PLACES,)),
        ("room", "i8", (MAX_STATES,)),
        ("ways", "i8", ((N_TILES + 1) * MAX_STATES,)),
        ("world", "u4", (MAX_PLACES,)),
        ("key", "u4", (4,)),
        ("words", "u4", (32,)),
    ],
    align=True,
)
"""What is known of the hidden tiles (their mask; by place how many it holds and the mask of tiles
that it cannot hold), the table made of it, and the world last sampled."""


@part
def number_states(worlds):
    """Give every place but the roomiest a digit; note which places a state leaves open."""
    roomiest = 0
    for place in range(1, worlds.places):
        if worlds.capacity[place] > worlds.capacity[roomiest]:
            roomiest = place
    states = 1
    for place in range(worlds.places):
        worlds.stride[place] = 0
        if place != roomiest:
            worlds.stride[place] = states
            states *= worlds.capacity[place] + 1
    for state in range(states):
        room = np.int64(worlds.capacity[roomiest] > 0) << roomiest
        for place in range(worlds.places):
            if place != roomiest:
                digit = state // worlds.stride[place] % (worlds.capacity[place] + 1)
                room |= np.int64(digit > 0) << place
        worlds.room[state] = room
    worlds.states = states


@part
def list_tiles(worlds):
    """List the hidden tiles, and for each the places that may hold it."""
    hidden = np.int64(worlds.hidden)
    n = 0
    while hidden:
        bit = hidden & -hidden
        hidden ^= bit
        allowed = 0
        for place in range(worlds.places):
            allowed |= np.int64(np.int64(worlds.forbidden[place]) & bit == 0) << place
        worlds.bit[n] = np.uint32(bit)
        worlds.allowed[n] = allowed
        n += 1
    worlds.tiles = n


@part
def count_worlds(worlds):
    """Fill the table of ways; return how many worlds there are."""
    number_states(worlds)
    list_tiles(worlds)
    states = worlds.states
    here = worlds.tiles * states
    for state in range(states):
        worlds.ways[np.uint64(here + state)] = state == 0
    for tile in range(worlds.tiles - 1, -1, -1):
        after = here
        here -= states
        for state in range(states):
            open_ = worlds.allowed[tile] & worlds.room[state]
            ways = 0
            while open_:
                place = lowest(open_)
                open_ &= open_ - 1
                ways += worlds.ways[np.uint64(after + state - worlds.stride[place])]
            worlds.ways[np.uint64(here + state)] = ways
    return worlds.ways[np.uint64(states - 1)]


@inlined
def sample_world(worlds):
    """Deal one world, all equally likely, by the table and a random word for each tile."""
    for place in range(worlds.places):
        worlds.world[place] = 0
    states = worlds.states
    state = states - 1
    here = np.int64(0)
    for tile in range(worlds.tiles):
        # Below the number of ways, as a word is below 2**32 by more than rounding can lift.
        share = run_word(worlds.words, tile) * 2.0**-32
        rank = np.int64(share * worlds.ways[np.uint64(here + state)])
        here += states
        open_ = worlds.allowed[np.uint64(tile)] & worlds.room[np.uint64(state)]
        place = lowest(open_)
        ways = worlds.ways[np.uint64(here + state - worlds.stride[np.uint64(place)])]
        while rank >= ways:
            rank -= ways
            open_ &= open_ - 1
            place = lowest(open_)
            ways = worlds.ways[np.uint64(here + state - worlds.stride[np.uint64(place)])]
        state -= worlds.stride[np.uint64(place)]
        worlds.world[np.uint64(place)] |= worlds.bit[np.uint64(tile)]


@kernel
def count_kernel(records):
    """Count the worlds of the first record."""
    return count_worlds(records[0])


@kernel
def sample_kernel(records, seed, round_, event, out):
    """Sample worlds 0, 1, ... of (seed, round, event) into out[world, place]; return the count."""
    worlds = records[0]
    count = count_worlds(worlds)
    if count == 0:
        return count
    worlds.key[0] = np.uint32(seed & np.uint64(0xFFFFFFFF))
    worlds.key[1] = np.uint32(seed >> np.uint64(32))
    for i in range(out.shape[0]):
        write_run(worlds.words, worlds.key, round_, event, 8 * i, WORLD)
        sample_world(worlds)
        for place in range(worlds.places):
            out[i, place] = worlds.world[place]
    return count
