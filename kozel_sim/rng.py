"""Luck, fixed before play: counter-based random words and what is dealt from them.

Nothing here keeps a state. Every random word is a pure function of where it is used, so a match can
be replayed from its number alone, and any two policies or rule sets meet the same luck.

Legend
------
key       (seed low, seed high, deal low, deal high), 32 bits each.
counter   (round, x, block, purpose): four words come out of each counter.
word      an unsigned 32-bit integer.
attempt   0 for the deal; 1, 2, ... for the redeals of one round.

The compiled twin of this file is ``kozel_sim.engine.luck``.
"""

from __future__ import annotations

from functools import lru_cache

from kozel_sim.tiles import ALL, tiles_of

STREAM_VERSION = 1
"""Number of the scheme that turns words into deals and choices; any change of results bumps it."""

DEAL, SHED, BAZAAR, CHOICE, OWN, WORLD = range(6)
"""What a word is for: dealing, five-tile hands, the bazaar's order, choices, a policy's own use,
sampled worlds."""

ROUNDS = 12
PARITY = 0x1BD11BDA
ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
_MASK = 0xFFFF_FFFF

Words = tuple[int, int, int, int]


def threefry4x32(counter: Words, key: Words, rounds: int = ROUNDS) -> Words:
    """Return the four words that Threefry-4x32 makes of a counter and a key.

    Parameters
    ----------
    counter, key : tuple of 4 int
        Unsigned 32-bit words.
    rounds : int, default 12
        Rounds of mixing; the engine uses 12, the published default is 20.

    Returns
    -------
    tuple of 4 int
        Unsigned 32-bit words.

    References
    ----------
    Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11 (Random123).
    """
    schedule = (*key, PARITY ^ key[0] ^ key[1] ^ key[2] ^ key[3])
    a, b, c, d = ((x + k) & _MASK for x, k in zip(counter, key, strict=True))
    for r in range(rounds):
        left, right = ROTATIONS[r % 8]
        a = (a + b) & _MASK
        b = ((b << left | b >> (32 - left)) & _MASK) ^ a
        c = (c + d) & _MASK
        d = ((d << right | d >> (32 - right)) & _MASK) ^ c
        b, d = d, b
        if r % 4 == 3:
            step = r // 4 + 1
            k = schedule[step % 5 :] + schedule[: step % 5]
            a, b, c = (a + k[0]) & _MASK, (b + k[1]) & _MASK, (c + k[2]) & _MASK
            d = (d + k[3] + step) & _MASK
    return (a, b, c, d) if rounds % 2 == 0 else (a, d, c, b)


def below(word: int, n: int) -> int:
    """Return an integer in ``range(n)`` from one word, for n up to 28.

    Each value's probability differs from 1/n by less than ``1 / 2**27``.

    Examples
    --------
    >>> below(0, 7), below(0xFFFFFFFF, 7)
    (0, 6)
    """
    return ((word >> 5) * n) >> 27


def nth_tile(mask: int, n: int) -> int:
    """Return the n-th lowest tile of a mask (from 0), as a mask of one bit."""
    for _ in range(n):
        mask &= mask - 1
    return mask & -mask


class Luck:
    """All the luck of one deal id under one seed.

    Parameters
    ----------
    seed, deal : int
        Unsigned 64-bit numbers.

    Examples
    --------
    >>> luck = Luck(seed=1, deal=0)
    >>> hands, bazaar = luck.deal(round_=0, attempt=0, players=4)
    >>> [hand.bit_count() for hand in hands], bazaar
    ([7, 7, 7, 7], 0)
    """

    def __init__(self, seed: int, deal: int) -> None:
        self.key = (seed & _MASK, seed >> 32, deal & _MASK, deal >> 32)
        self._block = lru_cache(maxsize=64)(self._compute_block)

    def _compute_block(self, round_: int, x: int, block: int, purpose: int) -> Words:
        return threefry4x32((round_, x, block, purpose), self.key)

    def word(self, round_: int, x: int, index: int, purpose: int) -> int:
        """Return word `index` of a stream: word index & 3 of block index >> 2."""
        return self._block(round_, x, index >> 2, purpose)[index & 3]

    def deal(
        self, round_: int, attempt: int, players: int, hand_size: int = 7
    ) -> tuple[list[int], int]:
        """Deal one round by halving.

        Returns
        -------
        hands : list of int
            The mask of each seat's hand.
        bazaar : int
            The mask of the tiles that were not dealt.
        """
        first, second = self._halve(round_, attempt, 0, ALL)
        hands = [0, 0, 0, 0]
        hands[0], hands[1] = self._halve(round_, attempt, 1, first)
        bazaar = second
        if players > 2:
            hands[2], bazaar = self._halve(round_, attempt, 2, second)
        if players > 3:
            hands[3], bazaar = bazaar, 0
        hands = hands[:players]
        for seat in range(players):
            for i in range(7 - hand_size):
                word = self.word(round_, attempt, 4 * seat + i, SHED)
                tile = nth_tile(hands[seat], below(word, 7 - i))
                hands[seat] ^= tile
                bazaar |= tile
        return hands, bazaar

    def _halve(self, round_: int, attempt: int, halving: int, mask: int) -> tuple[int, int]:
        """Split a set evenly at random: a random subset, then its surplus removed at random."""
        size = mask.bit_count()
        half = self.word(round_, attempt, 16 * halving, DEAL) & mask
        if half.bit_count() < size // 2:
            half ^= mask
        i = 1
        while half.bit_count() > size // 2:
            word = self.word(round_, attempt, 16 * halving + i, DEAL)
            half ^= nth_tile(half, below(word, half.bit_count()))
            i += 1
        return half, mask ^ half

    def bazaar_order(self, round_: int, attempt: int, bazaar: int) -> list[int]:
        """Return the tile ids of the bazaar in the order in which they will be drawn."""
        order: list[int] = []
        left = bazaar
        for j in range(bazaar.bit_count()):
            word = self.word(round_, attempt, j, BAZAAR)
            tile = nth_tile(left, below(word, left.bit_count()))
            left ^= tile
            order.extend(tiles_of(tile))
        return order

    def choice(self, round_: int, event: int) -> int:
        """Return the word that breaks the tie of one event (plays, passes and draws count)."""
        return self.word(round_, 0, event, CHOICE)

    def mixture(self, round_: int, event: int) -> int:
        """Return the word that picks a mixture's component for one event."""
        return self._block(round_, event, 0, OWN)[0]

    def own(self, round_: int, event: int) -> Words:
        """Return four words that a policy may use as it likes in one event."""
        return self._block(round_, event, 1, OWN)
