/* Shared by scalar.c and simd.c: tables, random numbers, dealing, scores, what they print.
   Every random word of a match comes from its own xoshiro128++ stream, seeded from (seed, match),
   so the two programs must give bit-identical results. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif
#include "tables.h"

#ifndef NP
#define NP 4 /* players, 2 to 4 */
#endif
#ifndef POL
#define POL 0 /* 0 random legal, 1 the greedy weights below */
#endif
#define TARGET 101
#define FENCE 13
#define NONE 7u /* the value that both ends of an empty table show */

static const float W_PIPS = 1.0f, W_DOUBLE = 3.0f, W_RANGE = 2.0f, W_BLOCK = 0.5f, W_LOCK = 1.5f;

typedef struct { uint32_t s[4]; } rng_t;
typedef struct { uint64_t rounds, rounds_squared, moves, passes, draws, redeals, hash; } stats_t;

static inline uint32_t rotl(uint32_t x, int k) { return x << k | x >> (32 - k); }

static inline uint32_t next32(rng_t *r) {
    uint32_t *s = r->s, word = rotl(s[0] + s[3], 7) + s[0], t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 11);
    return word;
}

static inline uint32_t mix32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static inline void seed_rng(rng_t *r, uint32_t seed, uint32_t match) {
    uint32_t a = mix32(match + seed * 0x9E3779B9u);
    for (int i = 0; i < 4; i++) r->s[i] = mix32(a + (i + 1) * 0x9E3779B9u + seed);
}

/* uniform in [0, n) for n < 32, from 27 bits */
static inline uint32_t below(uint32_t word, uint32_t n) { return ((word >> 5) * n) >> 27; }

static inline uint32_t count(uint32_t mask) { return (uint32_t)__builtin_popcount(mask); }

/* the k-th lowest tile of a mask, as a mask */
static inline uint32_t nth(uint32_t mask, uint32_t k) {
#ifdef __BMI2__
    return _pdep_u32(1u << k, mask);
#else
    while (k--) mask &= mask - 1;
    return mask & -mask;
#endif
}

static inline uint32_t hand_points(uint32_t hand) {
    if (hand == BLANK) return 10;
    return count(hand & PIP_BITS[0]) + 2 * count(hand & PIP_BITS[1]) +
           4 * count(hand & PIP_BITS[2]) + 8 * count(hand & PIP_BITS[3]);
}

static inline int is_redealt(uint32_t hand) {
    if (count(hand & DOUBLES) >= 5) return 1;
    for (int v = 0; v < 7; v++)
        if (count(hand & HAS[v]) >= 6) return 1;
    return 0;
}

/* a random half of a mask of n tiles: a random subset, then its surplus removed at random */
static inline uint32_t halve(rng_t *r, uint32_t mask, uint32_t n) {
    uint32_t half = next32(r) & mask, size = count(half);
    if (size < n / 2) {
        half ^= mask;
        size = n - size;
    }
    for (; size > n / 2; size--) half ^= nth(half, below(next32(r), size));
    return half;
}

/* hash of one match's result; summed over matches, so their order does not matter */
static inline uint64_t hash_result(uint32_t match, const uint32_t *accounts, uint32_t rounds) {
    uint64_t h = ((uint64_t)match << 32) ^
                 (accounts[0] | accounts[1] << 8 | accounts[2] << 16 | (uint64_t)accounts[3] << 24) ^
                 ((uint64_t)rounds << 20);
    h *= 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9ull;
    return h ^ h >> 32;
}

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Print a line of JSON. */
static inline void report(double seconds, uint32_t matches, const stats_t *s) {
    printf("{\"seconds\": %.9f, \"matches\": %u, \"rounds\": %llu, \"rounds_squared\": %llu, "
           "\"moves\": %llu, \"passes\": %llu, \"draws\": %llu, \"redeals\": %llu, "
           "\"hash\": \"%016llx\"}\n",
           seconds, matches, (unsigned long long)s->rounds, (unsigned long long)s->rounds_squared,
           (unsigned long long)s->moves, (unsigned long long)s->passes,
           (unsigned long long)s->draws, (unsigned long long)s->redeals,
           (unsigned long long)s->hash);
}
