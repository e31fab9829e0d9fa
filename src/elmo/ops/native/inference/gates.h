/* The gates of a projected LSTM in inference, for one instruction set. Included once for each, after its vectors.
 *
 * Specification and oracle: ops/projected_lstm/reference.py.
 *
 * c = clip(f * before + i * tanh(j)) = (before * I * J + (1 - u) * F) / (I * F * J) with I = 1 + exp(-i), F likewise,
 * u = exp(-2 j), J = 1 + u; output = o * tanh(c) likewise: one division each. */

/* exp to about 1e-11, for absolute values up to 40 (logistic functions differ from 0 or 1 by 4e-18 there). */
INLINE Doubles exp_double(Doubles x) {
    static const double ways[] = {1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 0.5, 1, 1};
    x = most_d(all_d(-40), least_d(all_d(40), x));
    Doubles n = nearest_d(mul_d(x, all_d(1.4426950408889634)));
    Doubles r = fnma_d(n, all_d(0.6931471805599453), x), p = all_d(ways[0]);
    for (int k = 1; k < 10; k++) p = fma_d(p, r, all_d(ways[k]));
    return times_power_d(p, n);
}

/* exp to a few units in the last place, for absolute values up to 28: three factors 1 + exp stay below the largest
 * float. Source of the coefficients: S. Moshier, Cephes mathematical library, single precision. */
INLINE Floats exp_single(Floats x) {
    static const float ways[] = {1.9875691500e-4f,
                                 1.3981999507e-3f,
                                 8.3334519073e-3f,
                                 4.1665795894e-2f,
                                 1.6666665459e-1f,
                                 5.0000001201e-1f,
                                 1.0f,
                                 1.0f};
    x = most(all(-28), least(all(28), x));
    Floats n = nearest(mul(x, all(1.44269504f)));
    Floats r = fnma(n, all(0.693147182f), x), p = all(ways[0]);
    for (int k = 1; k < 8; k++) p = fma(p, r, all(ways[k]));
    return times_power(p, n);
}

#define UPDATE_CELLS(NAME, TYPE, D, EXP)                                                                               \
    INLINE TYPE NAME(TYPE i, TYPE f, TYPE o, TYPE j, TYPE before, TYPE low, TYPE high, TYPE *output) {                 \
        TYPE one = D(all)(1), minus_two = D(all)(-2), none = D(zeros)();                                               \
        TYPE in = D(add)(one, EXP(D(sub)(none, i))), forget = D(add)(one, EXP(D(sub)(none, f)));                       \
        TYPE u = EXP(D(mul)(j, minus_two)), both = D(mul)(in, D(add)(one, u));                                         \
        TYPE cell = D(divide)(D(fma)(before, both, D(mul)(D(sub)(one, u), forget)), D(mul)(both, forget));             \
        cell = D(most)(low, D(least)(high, cell));                                                                     \
        TYPE w = EXP(D(mul)(cell, minus_two)), out = D(add)(one, EXP(D(sub)(none, o)));                                \
        *output = D(divide)(D(sub)(one, w), D(mul)(out, D(add)(one, w)));                                              \
        return cell;                                                                                                   \
    }

#define OF_SINGLES(operation) operation
#define OF_DOUBLES(operation) operation##_d
UPDATE_CELLS(update_single, Floats, OF_SINGLES, exp_single)
UPDATE_CELLS(update_double, Doubles, OF_DOUBLES, exp_double)

/* In double precision, for float32 factors: weights that amplify rounding show a float's. */
INLINE Floats update_exactly(Floats i, Floats f, Floats o, Floats j, Floats before, Floats low, Floats high,
                             Floats *output) {
    Doubles output_a, output_b;
#define HALF(PART, OUTPUT)                                                                                             \
    update_double(PART(i), PART(f), PART(o), PART(j), PART(before), PART(low), PART(high), OUTPUT)
    Doubles cell_a = HALF(low_half, &output_a), cell_b = HALF(high_half, &output_b);
#undef HALF
    *output = both_halves(output_a, output_b);
    return both_halves(cell_a, cell_b);
}

/* 1 / (1 + exp(-x)), and tanh(x). */
INLINE Floats logistic_single(Floats x) { return divide(all(1), add(all(1), exp_single(sub(zeros(), x)))); }

INLINE Floats tanh_single(Floats x) {
    Floats u = exp_single(mul(x, all(-2)));
    return divide(sub(all(1), u), add(all(1), u));
}

INLINE Doubles logistic_double(Doubles x) {
    return divide_d(all_d(1), add_d(all_d(1), exp_double(sub_d(zeros_d(), x))));
}

INLINE Doubles tanh_double(Doubles x) {
    Doubles u = exp_double(mul_d(x, all_d(-2)));
    return divide_d(sub_d(all_d(1), u), add_d(all_d(1), u));
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
