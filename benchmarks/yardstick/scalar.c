/* The yardstick: straight scalar C, one match at a time. Usage: scalar MATCHES */
#include "kozel.h"

/* deal a round, again while a hand asks for it; return the bazaar */
static inline uint32_t deal(rng_t *r, uint32_t *hand, stats_t *st) {
    for (;;) {
        uint32_t first = halve(r, ALL, 28), bazaar = ALL ^ first;
        hand[0] = halve(r, first, 14);
        hand[1] = first ^ hand[0];
        if (NP > 2) {
            hand[2] = halve(r, bazaar, 14);
            bazaar ^= hand[2];
        }
        if (NP > 3) {
            hand[3] = bazaar;
            bazaar = 0;
        }
        int again = 0;
        for (int p = 0; p < NP; p++) again |= is_redealt(hand[p]);
        if (!again) return bazaar;
        st->redeals++;
    }
}

#if POL == 1
/* reduce the legal tiles (of the left and the right end) to those of the best score */
static inline void keep_best(uint32_t hand, uint32_t end0, uint32_t end1, uint32_t *left,
                             uint32_t *right) {
    float best = -1e30f;
    uint32_t kept[2] = {0, 0};
    for (int arm = 0; arm < 2; arm++) {
        uint32_t legal = arm ? *right : *left;
        while (legal) {
            uint32_t bit = legal & -legal, tile = __builtin_ctz(bit), rest = hand ^ bit, e0, e1;
            legal ^= bit;
            if (end0 == NONE) {
                e0 = LOW[tile];
                e1 = PIPS[tile] - LOW[tile];
            } else if (arm) {
                e0 = end0;
                e1 = PIPS[tile] - end1;
            } else {
                e0 = PIPS[tile] - end0;
                e1 = end1;
            }
            uint32_t range = 0;
            for (int v = 0; v < 7; v++) range += (rest & HAS[v]) != 0;
            float score = W_PIPS * (float)(int)PIPS[tile];
            score += W_DOUBLE * (float)(int)(tile < 7);
            score += W_RANGE * (float)(int)range;
            score += W_BLOCK * (float)(int)(e0 == e1);
            score += W_LOCK * (float)(int)count(rest & (HAS[e0] | HAS[e1]));
            if (score > best) {
                best = score;
                kept[0] = kept[1] = 0;
            }
            if (score == best) kept[arm] |= bit;
        }
    }
    *left = kept[0];
    *right = kept[1];
}
#endif

static inline uint32_t next_seat(uint32_t seat) { return seat + 1 == NP ? 0 : seat + 1; }

/* play a round from its deal; return who ended it. leader is -1 for the first lead, by rule */
static inline int play_round(rng_t *r, uint32_t *hand, uint32_t bazaar, int leader, stats_t *st) {
    uint32_t off_table = ALL, end0 = NONE, end1 = NONE, p = leader;
    if (leader < 0) {
        uint32_t dealt = 0;
        for (int i = 0; i < NP; i++) dealt |= hand[i];
        uint32_t bit = dealt & -dealt, tile = __builtin_ctz(bit);
        for (p = 0; !(hand[p] & bit);) p++;
        hand[p] ^= bit;
        off_table ^= bit;
        end0 = LOW[tile];
        end1 = PIPS[tile] - end0;
        st->moves++;
        p = next_seat(p);
    }
    for (;;) {
        uint32_t h = hand[p], left = h & HAS[end0], right = end0 == end1 ? 0 : h & HAS[end1];
        uint32_t n_left = count(left), n = n_left + count(right);
        if (!n) {
            if (NP < 4 && bazaar) {
                uint32_t size = count(bazaar);
                uint32_t bit = size > 1 ? nth(bazaar, below(next32(r), size)) : bazaar;
                bazaar ^= bit;
                hand[p] |= bit;
                st->draws++;
                continue;
            }
            st->passes++;
            p = next_seat(p);
            continue;
        }
#if POL == 1
        if (n > 1) {
            keep_best(h, end0, end1, &left, &right);
            n_left = count(left);
            n = n_left + count(right);
        }
#endif
        uint32_t k = n > 1 ? below(next32(r), n) : 0;
        int arm = k >= n_left;
        uint32_t bit = arm ? nth(right, k - n_left) : nth(left, k), tile = __builtin_ctz(bit);
        if (end0 == NONE) {
            end0 = LOW[tile];
            end1 = PIPS[tile] - end0;
        } else if (arm) {
            end1 = PIPS[tile] - end1;
        } else {
            end0 = PIPS[tile] - end0;
        }
        hand[p] = h ^= bit;
        off_table ^= bit;
        st->moves++;
        if (!h || !(off_table & (HAS[end0] | HAS[end1]))) return p;
        p = next_seat(p);
    }
}

static void play_match(uint32_t seed, uint32_t match, stats_t *st) {
    rng_t r;
    uint32_t account[4] = {0}, memory[4] = {0}, hand[4], rounds = 0;
    int leader = -1, over = 0;
    seed_rng(&r, seed, match);
    while (!over) {
        uint32_t bazaar = deal(&r, hand, st);
        leader = play_round(&r, hand, bazaar, leader, st);
        rounds++;
        for (int i = 0; i < NP; i++) {
            uint32_t points = hand_points(hand[i]);
            if (!hand[i]) {
                if (!account[i]) memory[i] = 0;
            } else if (account[i]) {
                account[i] += points;
            } else if (points < FENCE) {
                memory[i] += points;
            } else {
                account[i] = memory[i] + points;
            }
            over |= account[i] >= TARGET;
        }
    }
    st->rounds += rounds;
    st->rounds_squared += (uint64_t)rounds * rounds;
    st->hash += hash_result(match, account, rounds);
}

int main(int argc, char **argv) {
    uint32_t matches = argc > 1 ? atoi(argv[1]) : 200000;
    stats_t st = {0};
    double start = now();
    for (uint32_t i = 0; i < matches; i++) play_match(1, i, &st);
    report(now() - start, matches, &st);
}
