/* The limit: AVX-512 (VPOPCNTDQ) over G matches in flight, kept as structures of arrays.
   Bit-identical to scalar.c (same stream per match). Usage: simd MATCHES
   A sweep makes K turns of every match, 16 matches to a vector. Those whose round ended are listed,
   then scored and redealt 16 at a time, so no lane waits longer than a sweep. */
#include "kozel.h"

#ifndef G
#define G 512
#endif
#ifndef K
#define K 4 /* a multiple of 4 for four players */
#endif
#define INLINE static inline __attribute__((always_inline))
#define ALIGNED __attribute__((aligned(64)))

typedef __m512i vec;
typedef __mmask16 mask16;
typedef struct { vec s[4]; } vrng;

#define SET(x) _mm512_set1_epi32((int)(x))
#define LOAD(p) _mm512_load_si512((const void *)(p))
#define STORE(p, v) _mm512_store_si512((void *)(p), v)
#define GATHER(base, i) _mm512_i32gather_epi32(i, (const void *)(base), 4)
#define SCATTER(base, m, i, v) _mm512_mask_i32scatter_epi32((void *)(base), m, i, v, 4)
#define AND _mm512_and_si512
#define OR _mm512_or_si512
#define XOR _mm512_xor_si512
#define ADD _mm512_add_epi32
#define SUB _mm512_sub_epi32
#define COUNT _mm512_popcnt_epi32
#define SHR _mm512_srli_epi32
#define MUL _mm512_mullo_epi32
#define IF _mm512_mask_mov_epi32       /* IF(old, mask, new) */
#define IF_ADD _mm512_mask_add_epi32   /* IF_ADD(old, mask, a, b) */
#define IF_SUB _mm512_mask_sub_epi32
#define IF_XOR _mm512_mask_xor_epi32

/* Read and written by every sweep. Four players' hands are by slot: turn j of a sweep is always that
   of slot j & 3, whose seat is (slot + first) & 3. Two and three players' hands are by seat. */
static ALIGNED uint32_t hands[4][G], ends0[G], ends1[G], off_table[G], bazaars[G], to_act[G];
static ALIGNED uint32_t streams[4][G];
/* Read and written once a round. */
static ALIGNED uint32_t memories[4][G], accounts[4][G], ids[G], rounds[G], firsts[G], enders[G];
#define FIRST_LEAD 0xFF /* in firsts: the first lead is by rule */
static mask16 idle[G / 16];
static ALIGNED uint32_t ended[G + 64], to_deal[4 * G + 64];
static uint32_t n_ended;

static vec pips_a, pips_b, low_a, low_b, has;
static uint32_t seed, next_id, end_id, finished, *accounts_out, *rounds_out;
static stats_t st;

static inline vec lanes(void) {
    return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
}

/* step the streams of the lanes in m */
INLINE vec vnext(vrng *r, mask16 m) {
    vec s0 = r->s[0], s1 = r->s[1], s2 = r->s[2], s3 = r->s[3];
    vec word = ADD(_mm512_rol_epi32(ADD(s0, s3), 7), s0), t = _mm512_slli_epi32(s1, 9);
    s2 = XOR(s2, s0);
    s3 = XOR(s3, s1);
    r->s[1] = IF_XOR(s1, m, s1, s2);
    r->s[0] = IF_XOR(s0, m, s0, s3);
    r->s[2] = IF_XOR(r->s[2], m, s2, t);
    r->s[3] = _mm512_mask_rol_epi32(r->s[3], m, s3, 11);
    return word;
}

static inline vec vmix(vec x) {
    x = MUL(XOR(x, SHR(x, 16)), SET(0x7feb352du));
    x = MUL(XOR(x, SHR(x, 15)), SET(0x846ca68bu));
    return XOR(x, SHR(x, 16));
}

static inline vec vbelow(vec word, vec n) { return SHR(MUL(SHR(word, 5), n), 27); }

/* the k-th lowest bit of short sets: clear the lowest bit k times */
INLINE vec nth_short(vec set, vec k) {
    vec i = SET(0);
    mask16 m;
    while ((m = _mm512_cmpgt_epi32_mask(k, i))) {
        set = _mm512_mask_and_epi32(set, m, set, SUB(set, SET(1)));
        i = ADD(i, SET(1));
    }
    return AND(set, SUB(SET(0), set));
}

/* the k-th lowest bit of any set: five halving steps on counts */
INLINE vec nth_any(vec set, vec k) {
    vec position = SET(0);
#pragma GCC unroll 5
    for (int w = 16; w; w >>= 1) {
        vec below_w = COUNT(AND(set, SET((1u << w) - 1)));
        mask16 m = _mm512_cmpge_epu32_mask(k, below_w);
        k = IF_SUB(k, m, k, below_w);
        set = _mm512_mask_srli_epi32(set, m, set, w);
        position = IF_ADD(position, m, position, SET(w));
    }
    return _mm512_sllv_epi32(SET(1), position);
}

INLINE vec vhalve(vrng *r, vec set, uint32_t n, mask16 m) {
    vec want = SET(n / 2), half = AND(vnext(r, m), set), size = COUNT(half);
    mask16 few = _mm512_cmplt_epi32_mask(size, want), many;
    half = IF_XOR(half, few, half, set);
    size = IF_SUB(size, few, SET(n), size);
    while ((many = _mm512_mask_cmpgt_epi32_mask(m, size, want))) {
        vec word = vnext(r, many);
        half = IF_XOR(half, many, half, nth_any(half, vbelow(word, size)));
        size = IF_SUB(size, many, size, SET(1));
    }
    return half;
}

static inline mask16 vis_redealt(vec hand) {
    mask16 again = _mm512_cmpge_epu32_mask(COUNT(AND(hand, SET(DOUBLES))), SET(5));
    for (int v = 0; v < 7; v++)
        again |= _mm512_cmpge_epu32_mask(COUNT(AND(hand, SET(HAS[v]))), SET(6));
    return again;
}

static inline vec vhand_points(vec hand) {
    vec points = COUNT(AND(hand, SET(PIP_BITS[0])));
    for (int k = 1; k < 4; k++)
        points = ADD(points, _mm512_slli_epi32(COUNT(AND(hand, SET(PIP_BITS[k]))), k));
    return IF(points, _mm512_cmpeq_epi32_mask(hand, SET(BLANK)), SET(10));
}

static inline vec tile_of(vec bit) { return SUB(SET(31), _mm512_lzcnt_epi32(bit)); }
static inline vec pips_of(vec tile) { return _mm512_permutex2var_epi32(pips_a, tile, pips_b); }
static inline vec low_of(vec tile) { return _mm512_permutex2var_epi32(low_a, tile, low_b); }
static inline vec has_value(vec value) { return _mm512_permutexvar_epi32(value, has); }

/* where the hand of a seat is, for matches i */
static inline vec place_of_hand(int seat, vec i, vec first) {
    if (NP < 4) return ADD(i, SET(seat * G));
    return ADD(i, MUL(AND(SUB(SET(seat), first), SET(3)), SET(G)));
}

/* put the next matches, in order of lanes, in place of those in m */
static void start_matches(const uint32_t *list, vec i, mask16 m) {
    vec id = ADD(SET(next_id), _mm512_maskz_expand_epi32(m, lanes()));
    next_id += count(m);
    mask16 live = _mm512_mask_cmplt_epu32_mask(m, id, SET(end_id));
    for (mask16 d = m & ~live; d; d &= d - 1) {
        uint32_t g = list[__builtin_ctz(d)];
        idle[g / 16] |= 1u << (g % 16);
    }
    SCATTER(ids, live, i, id);
    SCATTER(rounds, live, i, SET(0));
    SCATTER(firsts, live, i, SET(FIRST_LEAD));
    for (int p = 0; p < NP; p++) {
        SCATTER(accounts, live, ADD(i, SET(p * G)), SET(0));
        SCATTER(memories, live, ADD(i, SET(p * G)), SET(0));
    }
    vec a = vmix(ADD(id, SET(seed * 0x9E3779B9u)));
    for (int w = 0; w < 4; w++)
        SCATTER(streams, live, ADD(i, SET(w * G)), vmix(ADD(a, SET((w + 1) * 0x9E3779B9u + seed))));
}

/* score the round of matches i; return those that are over */
static mask16 score_rounds(vec i, mask16 m) {
    mask16 over = 0;
    vec first = GATHER(firsts, i);
    for (int p = 0; p < NP; p++) {
        vec place = ADD(i, SET(p * G));
        vec hand = GATHER(hands, place_of_hand(p, i, first)), points = vhand_points(hand);
        vec account = GATHER(accounts, place), memory = GATHER(memories, place);
        mask16 out = _mm512_testn_epi32_mask(hand, hand);
        mask16 opened = _mm512_test_epi32_mask(account, account);
        mask16 small = _mm512_cmplt_epu32_mask(points, SET(FENCE));
        account = IF_ADD(account, opened, account, points);
        account = IF_ADD(account, ~opened & ~small, memory, points);
        memory = IF_ADD(memory, ~opened & small, memory, points);
        memory = IF(memory, ~opened & out, SET(0));
        SCATTER(accounts, m, place, account);
        SCATTER(memories, m, place, memory);
        over |= _mm512_mask_cmpge_epu32_mask(m, account, SET(TARGET));
    }
    vec ender = GATHER(enders, i); /* a slot or a seat, as hands are */
    if (NP == 4)
        SCATTER(firsts, m, i, AND(ADD(first, ender), SET(3)));
    else
        SCATTER(to_act, m, i, ender);
    vec played = ADD(GATHER(rounds, i), SET(1));
    SCATTER(rounds, m, i, played);
    st.rounds += count(m);
    if (over) {
        vec id = GATHER(ids, i), packed = SET(0);
        for (int p = 0; p < NP; p++)
            packed = OR(packed, _mm512_slli_epi32(GATHER(accounts, ADD(i, SET(p * G))), 8 * p));
        SCATTER(accounts_out, over, id, packed);
        SCATTER(rounds_out, over, id, played);
        finished += count(over);
    }
    return over;
}

static void score_list(const uint32_t *list, uint32_t n, int fresh) {
    for (uint32_t q = 0; q < n; q += 16) {
        mask16 m = n - q >= 16 ? 0xFFFF : (1u << (n - q)) - 1;
        vec i = LOAD(list + q);
        mask16 over = fresh ? m : score_rounds(i, m);
        if (over) start_matches(list + q, i, over);
    }
}

/* deal to the listed matches; those to be dealt again go to the end of the list */
static void deal_list(uint32_t *list, uint32_t n) {
    for (uint32_t q = 0, took; q < n; q += took) {
        took = n - q >= 16 ? 16 : n - q;
        mask16 m = (1u << took) - 1;
        vec i = _mm512_maskz_loadu_epi32(m, list + q), hand[4];
        vrng r;
        for (int w = 0; w < 4; w++) r.s[w] = GATHER(streams, ADD(i, SET(w * G)));
        vec half = vhalve(&r, SET(ALL), 28, m), other = XOR(half, SET(ALL)), bazaar = other;
        hand[0] = vhalve(&r, half, 14, m);
        hand[1] = XOR(half, hand[0]);
        if (NP > 2) {
            hand[2] = vhalve(&r, other, 14, m);
            bazaar = hand[3] = XOR(other, hand[2]);
        }
        for (int w = 0; w < 4; w++) SCATTER(streams, m, ADD(i, SET(w * G)), r.s[w]);
        mask16 again = 0;
        for (int p = 0; p < NP; p++) again |= vis_redealt(hand[p]);
        again &= m;
        if (again) {
            _mm512_mask_compressstoreu_epi32(list + n, again, i);
            n += count(again);
            st.redeals += count(again);
            m &= ~again;
        }
        vec first = GATHER(firsts, i), end0 = SET(NONE), end1 = SET(NONE), off = SET(ALL);
        vec act = NP == 4 ? SET(0) : GATHER(to_act, i);
        mask16 lead = _mm512_mask_cmpeq_epi32_mask(m, first, SET(FIRST_LEAD));
        if (lead) {
            vec dealt = hand[0], next = SET(0);
            for (int p = 1; p < NP; p++) dealt = OR(dealt, hand[p]);
            vec bit = AND(dealt, SUB(SET(0), dealt)), tile = tile_of(bit);
            for (int p = 0; p < NP; p++) {
                mask16 mine = _mm512_mask_test_epi32_mask(lead, hand[p], bit);
                hand[p] = IF_XOR(hand[p], mine, hand[p], bit);
                next = IF(next, mine, SET(p + 1 == NP ? 0 : p + 1));
            }
            end0 = IF(end0, lead, low_of(tile));
            end1 = IF_SUB(end1, lead, pips_of(tile), end0);
            off = IF_XOR(off, lead, off, bit);
            first = IF(first, lead, NP == 4 ? next : SET(0));
            act = IF(act, lead, next);
            st.moves += count(lead);
            SCATTER(firsts, lead, i, first);
        }
        for (int p = 0; p < NP; p++) SCATTER(hands, m, place_of_hand(p, i, first), hand[p]);
        SCATTER(ends0, m, i, end0);
        SCATTER(ends1, m, i, end1);
        SCATTER(off_table, m, i, off);
        if (NP < 4) {
            SCATTER(bazaars, m, i, bazaar);
            SCATTER(to_act, m, i, act);
        }
    }
}

#if POL == 1
INLINE void vkeep_best(mask16 m, vec hand, vec end0, vec end1, vec *left, vec *right) {
    vec a = _mm512_maskz_mov_epi32(m, *left), b = _mm512_maskz_mov_epi32(m, *right);
    vec kept_a = SET(0), kept_b = SET(0);
    __m512 best = _mm512_set1_ps(-1e30f);
    mask16 lead = _mm512_cmpeq_epi32_mask(end0, SET(NONE));
    for (;;) {
        mask16 on_a = _mm512_test_epi32_mask(a, a);
        vec legal = IF(b, on_a, a);
        mask16 ok = _mm512_test_epi32_mask(legal, legal);
        if (!ok) break;
        vec bit = AND(legal, SUB(SET(0), legal)), tile = tile_of(bit);
        vec rest = XOR(hand, bit), pips = pips_of(tile);
        a = IF_XOR(a, on_a, a, bit);
        b = IF_XOR(b, ok & ~on_a, b, bit);
        vec e0 = IF_SUB(end0, on_a, pips, end0), e1 = IF_SUB(end1, ~on_a, pips, end1);
        e0 = IF(e0, lead, low_of(tile));
        e1 = IF_SUB(e1, lead, pips, e0);
        vec range = SET(0);
        for (int v = 0; v < 7; v++)
            range = IF_ADD(range, _mm512_test_epi32_mask(rest, SET(HAS[v])), range, SET(1));
        vec lock = COUNT(AND(rest, OR(has_value(e0), has_value(e1))));
        __m512 s = _mm512_mul_ps(_mm512_set1_ps(W_PIPS), _mm512_cvtepi32_ps(pips));
        mask16 is_double = _mm512_cmplt_epu32_mask(tile, SET(7));
        s = _mm512_mask_add_ps(s, is_double, s, _mm512_set1_ps(W_DOUBLE));
        s = _mm512_add_ps(s, _mm512_mul_ps(_mm512_set1_ps(W_RANGE), _mm512_cvtepi32_ps(range)));
        mask16 block = _mm512_cmpeq_epi32_mask(e0, e1);
        s = _mm512_mask_add_ps(s, block, s, _mm512_set1_ps(W_BLOCK));
        s = _mm512_add_ps(s, _mm512_mul_ps(_mm512_set1_ps(W_LOCK), _mm512_cvtepi32_ps(lock)));
        mask16 better = _mm512_mask_cmp_ps_mask(ok, s, best, _CMP_GT_OQ);
        mask16 good = better | _mm512_mask_cmp_ps_mask(ok, s, best, _CMP_EQ_OQ);
        best = _mm512_mask_mov_ps(best, better, s);
        kept_a = IF(kept_a, better, SET(0));
        kept_b = IF(kept_b, better, SET(0));
        kept_a = _mm512_mask_or_epi32(kept_a, good & on_a, kept_a, bit);
        kept_b = _mm512_mask_or_epi32(kept_b, good & ~on_a, kept_b, bit);
    }
    *left = IF(*left, m, kept_a);
    *right = IF(*right, m, kept_b);
}
#endif

/* make K turns of every match; list those whose round ended */
static void sweep(void) {
    uint32_t n_found = 0;
    uint64_t moves = 0, draws = 0, passes = 0;
    for (int g = 0; g < G; g += 16) {
        mask16 live = ~idle[g / 16], act = live;
        if (!live) continue;
        vec end0 = LOAD(ends0 + g), end1 = LOAD(ends1 + g), off = LOAD(off_table + g);
        vec ender = SET(0), hand[4];
        vec bazaar = NP < 4 ? LOAD(bazaars + g) : SET(0), seat = NP < 4 ? LOAD(to_act + g) : SET(0);
        vrng r;
        for (int w = 0; w < 4; w++) r.s[w] = LOAD(streams[w] + g);
        for (int p = 0; p < NP; p++) hand[p] = LOAD(hands[p] + g);
#pragma GCC unroll 4
        for (int j = 0; j < K; j++) {
            vec h;
            mask16 is[4];
            if (NP == 4) {
                h = hand[j & 3];
            } else {
                h = hand[0];
                is[0] = _mm512_testn_epi32_mask(seat, seat);
                for (int p = 1; p < NP; p++) {
                    is[p] = _mm512_cmpeq_epi32_mask(seat, SET(p));
                    h = IF(h, is[p], hand[p]);
                }
            }
            mask16 ends_differ = _mm512_cmpneq_epi32_mask(end0, end1);
            vec left = AND(h, has_value(end0));
            vec right = _mm512_maskz_and_epi32(ends_differ, h, has_value(end1));
            vec n_left = COUNT(left), n = ADD(n_left, COUNT(right));
            mask16 can = _mm512_mask_test_epi32_mask(act, n, n), draw = 0;
#if POL == 1
            mask16 choice = _mm512_mask_cmpgt_epi32_mask(act, n, SET(1));
            vkeep_best(choice, h, end0, end1, &left, &right);
            n_left = COUNT(left);
            n = ADD(n_left, COUNT(right));
#endif
            if (NP < 4) {
                draw = _mm512_mask_test_epi32_mask(act & ~can, bazaar, bazaar);
                n = IF(n, draw, COUNT(bazaar));
            }
            mask16 several = _mm512_mask_cmpgt_epi32_mask(act, n, SET(1));
            vec k = vbelow(vnext(&r, several), n);
            mask16 arm = _mm512_mask_cmpge_epi32_mask(can, k, n_left);
            vec from = IF(left, arm, right);
            k = IF_SUB(k, arm, k, n_left);
            if (NP < 4) from = IF(from, draw, bazaar);
            vec bit = NP < 4 ? nth_any(from, k) : nth_short(from, k);
            vec tile = tile_of(bit), pips = pips_of(tile);
            mask16 lead = _mm512_mask_cmpeq_epi32_mask(can, end0, SET(NONE));
            end0 = IF_SUB(end0, can & ~arm & ~lead, pips, end0);
            end1 = IF_SUB(end1, arm, pips, end1);
            if (lead) {
                end0 = IF(end0, lead, low_of(tile));
                end1 = IF_SUB(end1, lead, pips, end0);
            }
            h = IF_XOR(h, can | draw, h, bit);
            off = IF_XOR(off, can, off, bit);
            if (NP == 4) {
                hand[j & 3] = h;
            } else {
                for (int p = 0; p < NP; p++) hand[p] = IF(hand[p], is[p], h);
                bazaar = IF_XOR(bazaar, draw, bazaar, bit);
            }
            mask16 done = _mm512_mask_testn_epi32_mask(can, h, h);
            done |= _mm512_mask_testn_epi32_mask(can, off, OR(has_value(end0), has_value(end1)));
            ender = IF(ender, done, NP == 4 ? SET(j) : seat);
            if (NP < 4) {
                vec next = ADD(seat, SET(1));
                next = _mm512_maskz_mov_epi32(_mm512_cmplt_epi32_mask(next, SET(NP)), next);
                seat = IF(seat, act & ~draw & ~done, next);
            }
            moves += count(can);
            draws += count(draw);
            passes += count((mask16)(act & ~can & ~draw));
            act &= ~done;
        }
        STORE(ends0 + g, end0);
        STORE(ends1 + g, end1);
        STORE(off_table + g, off);
        for (int w = 0; w < 4; w++) STORE(streams[w] + g, r.s[w]);
        for (int p = 0; p < NP; p++) STORE(hands[p] + g, hand[p]);
        if (NP < 4) {
            STORE(bazaars + g, bazaar);
            STORE(to_act + g, seat);
        }
        mask16 done = live & ~act;
        if (done) {
            STORE(enders + g, ender);
            _mm512_mask_compressstoreu_epi32(ended + n_found, done, ADD(SET(g), lanes()));
            n_found += count(done);
        }
    }
    n_ended = n_found;
    st.moves += moves;
    st.draws += draws;
    st.passes += passes;
}

static void play_matches(uint32_t matches) {
    pips_a = _mm512_loadu_si512(PIPS);
    pips_b = _mm512_loadu_si512(PIPS + 16);
    low_a = _mm512_loadu_si512(LOW);
    low_b = _mm512_loadu_si512(LOW + 16);
    has = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)HAS));
    seed = 1;
    end_id = matches;
    for (uint32_t i = 0; i < G; i++) ended[i] = i;
    n_ended = G;
    for (int fresh = 1;; fresh = 0) {
        uint32_t n = 0;
        score_list(ended, n_ended, fresh);
        for (uint32_t i = 0; i < n_ended; i++) {
            uint32_t g = ended[i];
            to_deal[n] = g;
            n += !(idle[g / 16] >> (g % 16) & 1);
        }
        deal_list(to_deal, n);
        if (finished >= matches) return;
        sweep();
    }
}

int main(int argc, char **argv) {
    uint32_t matches = argc > 1 ? atoi(argv[1]) : 200000;
    accounts_out = malloc(4 * (size_t)matches);
    rounds_out = malloc(4 * (size_t)matches);
    double start = now();
    play_matches(matches);
    double seconds = now() - start;
    for (uint32_t i = 0; i < matches; i++) {
        uint32_t a[4];
        for (int p = 0; p < 4; p++) a[p] = accounts_out[i] >> 8 * p & 255;
        st.rounds_squared += (uint64_t)rounds_out[i] * rounds_out[i];
        st.hash += hash_result(i, a, rounds_out[i]);
    }
    report(seconds, matches, &st);
}
