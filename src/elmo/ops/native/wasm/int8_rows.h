/* Rows and weights for int8 weights as the 16-bit products of WebAssembly want them: each instruction multiplies four
 * columns' pairs of factors and adds each pair. So in a panel's vector of four columns the first two factors of each
 * column come first, then the other two (page.c). */

typedef struct {
    Words first, second; /* the pairs of a group */
} Halves;

INLINE Halves halves_of_weights(const uint32_t *at) {
    return (Halves){wasm_i16x8_load8x8(at), wasm_i16x8_load8x8(at + 2)};
}

INLINE Halves halves_of_factors(const uint32_t *at) { return (Halves){all_words(at[0]), all_words(at[1])}; }

INLINE Words dot_halves(Words sums, Halves factor, Halves weights) {
    sums = add_words(sums, wasm_i32x4_dot_i16x8(factor.first, weights.first));
    return add_words(sums, wasm_i32x4_dot_i16x8(factor.second, weights.second));
}

/* A row rounded to 255 steps, as everywhere, in 16 bits each. */
static inline float int8_row_wide(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    float step = int8_row_signed(from, size, groups, to);
    const int8_t *bytes = (const int8_t *)to;
    int16_t *wide = (int16_t *)to;
    for (int64_t k = 4 * groups; k-- > 0;) wide[k] = bytes[k];
    return step;
}

/* A row in 29 bits: `high` + `low` / 2^15, times the power of two that is returned. That is exact for values from 1/32
 * of the largest on, and to 2^-30 of the largest for others: their sums are nearer to the true ones than a float's. The
 * pairs of a group: high, high, low, low. Not a number is returned if one of the row is none or infinite. */
static float wide_row(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    int16_t *place = (int16_t *)to;
    float largest = 0.0f;
    for (int64_t k = 0; k < size; k++) largest = larger_or_nan(largest, from[k] < 0.0f ? -from[k] : from[k]);
    uint32_t bits, exponent, power;
    memcpy(&bits, &largest, 4);
    exponent = bits >> 23; /* largest < 2^(exponent - 126) */
    if (exponent < 14) exponent = 14;
    float up, down;
    power = (267 - (exponent < 255 ? exponent : 254)) << 23, memcpy(&up, &power, 4); /* to less than 2^14 */
    power = (exponent - 13) << 23, memcpy(&down, &power, 4);
    for (int64_t group = 0; group < groups; group++, place += 8) {
        float four[4] = {0};
        int32_t whole[4], rest[4];
        int64_t there = size - 4 * group;
        memcpy(four, from + 4 * group, (there < 4 ? there : 4) * sizeof(float));
        Floats scaled = mul(load(four), all(up));
        Words high = nearest_words(scaled);
        store_words(whole, high);
        store_words(rest, nearest_words(mul(sub(scaled, floats_of(high)), all(32768.0f))));
        for (int k = 0; k < 4; k++) place[k] = (int16_t)whole[k], place[4 + k] = (int16_t)rest[k];
    }
    return exponent < 255 ? down : largest - largest;
}
