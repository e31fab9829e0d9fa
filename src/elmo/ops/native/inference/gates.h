/* The gates of a projected LSTM in inference, for one instruction set. Included once for each, after its vectors.
 *
 * Specification and oracle: ops/projected_lstm/reference.py.
 *
 * c = clip(f * before + i * tanh(j)) = (before * I * J + (1 - u) * F) / (I * F * J) with I = 1 + exp(-i), F likewise,
 * u = exp(-2 j), J = 1 + u; output = o * tanh(c) likewise: one division each. */

#ifndef UNROLL
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#endif

/* 2^(scale * x), to 5e-11 in double and 1e-7 in single precision, relative. (2e-9 was too coarse in double: weights
 * that amplify rounding errors showed it.) The power is clipped at 2^40: three factors 1 + 2^40 stay below the largest
 * float. With t = scale * x + 1/2 it is 2^floor(t) times a polynomial of r = t - floor(t): the nearest to 2^(r - 1/2)
 * for r from 0 to 1 (in relative differences) that is exact at r = 1/2, so that tanh(0) is 0. */
INLINE Doubles power_double(Doubles x, double scale) {
    static const double ways[] = {1.5196156754142959e-05, 0.0001014810149556275, 0.0009491706376818032,
                                  0.006798074545855057,   0.03924808384371252,   0.16986569885477246,
                                  0.4901290760998232,     0.7071067811535542};
    Doubles t = at_least_d(-40, least_d(all_d(40), fma_d(x, all_d(scale), all_d(0.5))));
    Doubles r = fraction_d(t), p = all_d(ways[0]);
    for (int k = 1; k < 8; k++) p = fma_d(p, r, all_d(ways[k]));
    return times_power_d(p, t);
}

INLINE Floats power_single(Floats x, float scale) {
    static const float ways[] = {0.0013264727f, 0.0063553309f, 0.039480494f, 0.16981059f, 0.49013383f, 0.70710672f};
    Floats t = at_least(-40, least(all(40), fma(x, all(scale), all(0.5f))));
    Floats r = fraction(t), p = all(ways[0]);
    for (int k = 1; k < 6; k++) p = fma(p, r, all(ways[k]));
    return times_power(p, t);
}

#define LOG2_E 1.4426950408889634

/* The gates of `count` vectors of cells, step by step for all of them: what one vector waits for, the others fill.
 * `count` is constant and at most eight. */
#define UPDATE_CELLS(NAME, TYPE, D, POWER)                                                                             \
    INLINE void NAME(const int count, TYPE gates[4][8], TYPE low, TYPE high, TYPE cell[8], TYPE output[8]) {           \
        TYPE one = D(all)(1), top[8], bottom[8], out[8];                                                               \
        UNROLL for (int n = 0; n < count; n++) {                                                                       \
            TYPE in = D(add)(one, POWER(gates[0][n], -LOG2_E)), forget = D(add)(one, POWER(gates[1][n], -LOG2_E));     \
            TYPE u = POWER(gates[3][n], -2 * LOG2_E), both = D(mul)(in, D(add)(one, u));                               \
            top[n] = D(fma)(cell[n], both, D(mul)(D(sub)(one, u), forget)), bottom[n] = D(mul)(both, forget);          \
            out[n] = D(add)(one, POWER(gates[2][n], -LOG2_E));                                                         \
        }                                                                                                              \
        UNROLL for (int n = 0; n < count; n++) top[n] = D(quotient)(top[n], bottom[n]);                                \
        UNROLL for (int n = 0; n < count; n++) cell[n] = D(most)(low, D(least)(high, top[n]));                         \
        UNROLL for (int n = 0; n < count; n++) top[n] = POWER(cell[n], -2 * LOG2_E);                                   \
        UNROLL for (int n = 0; n < count; n++) bottom[n] = D(mul)(out[n], D(add)(one, top[n]));                        \
        UNROLL for (int n = 0; n < count; n++) output[n] = D(quotient)(D(sub)(one, top[n]), bottom[n]);                \
    }

#define OF_SINGLES(operation) operation
#define OF_DOUBLES(operation) operation##_d
UPDATE_CELLS(update_single, Floats, OF_SINGLES, power_single)
UPDATE_CELLS(update_double, Doubles, OF_DOUBLES, power_double)

/* In double precision, for float32 factors: weights that amplify rounding show a float's. At most four vectors. */
INLINE void update_exactly(const int count, Floats gates[4][8], Floats low, Floats high, Floats cell[8],
                           Floats output[8]) {
    Doubles gates_d[4][8], cell_d[8], output_d[8];
    UNROLL for (int n = 0; n < count; n++) {
        UNROLL for (int gate = 0; gate < 4; gate++) {
            gates_d[gate][2 * n] = low_half(gates[gate][n]), gates_d[gate][2 * n + 1] = high_half(gates[gate][n]);
        }
        cell_d[2 * n] = low_half(cell[n]), cell_d[2 * n + 1] = high_half(cell[n]);
    }
    update_double(2 * count, gates_d, low_half(low), low_half(high), cell_d, output_d);
    UNROLL for (int n = 0; n < count; n++) {
        cell[n] = both_halves(cell_d[2 * n], cell_d[2 * n + 1]);
        output[n] = both_halves(output_d[2 * n], output_d[2 * n + 1]);
    }
}

/* 1 / (1 + exp(-x)), and tanh(x). */
INLINE Floats logistic_single(Floats x) { return quotient(all(1), add(all(1), power_single(x, -LOG2_E))); }

INLINE Floats tanh_single(Floats x) {
    Floats u = power_single(x, -2 * LOG2_E);
    return quotient(sub(all(1), u), add(all(1), u));
}

INLINE Doubles logistic_double(Doubles x) { return quotient_d(all_d(1), add_d(all_d(1), power_double(x, -LOG2_E))); }

INLINE Doubles tanh_double(Doubles x) {
    Doubles u = power_double(x, -2 * LOG2_E);
    return quotient_d(sub_d(all_d(1), u), add_d(all_d(1), u));
}

/* g * made + (1 - g) * x = x + g * (made - x) with g = logistic(gate). */
INLINE Floats highway_single(Floats gate, Floats made, Floats x) { return fma(logistic_single(gate), sub(made, x), x); }

INLINE Doubles highway_double(Doubles gate, Doubles made, Doubles x) {
    return fma_d(logistic_double(gate), sub_d(made, x), x);
}

INLINE Floats highway_exactly(Floats gate, Floats made, Floats x) {
    return both_halves(highway_double(low_half(gate), low_half(made), low_half(x)),
                       highway_double(high_half(gate), high_half(made), high_half(x)));
}

INLINE Floats tanh_exactly(Floats x) { return both_halves(tanh_double(low_half(x)), tanh_double(high_half(x))); }
