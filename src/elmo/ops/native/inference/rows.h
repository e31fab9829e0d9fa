/* Rows of floats to factors, for one instruction set. Included once for each, after its vectors. */

/* A row as it is. */
static float keep_row(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    (void)groups;
    memcpy(to, from, size * sizeof(float));
    return 1.0f;
}

/* A row as it is, two factors in a group. */
static inline float keep_pairs(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    memcpy(to, from, size * sizeof(float));
    for (int64_t k = size; k < 2 * groups; k++) to[k] = 0;
    return 1.0f;
}

/* A row rounded to bfloat16, two factors in a group. */
static inline float bfloat16_row(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    uint16_t *place = (uint16_t *)to;
    for (int64_t k = 0; k < size; k++) place[k] = to_bfloat16(from[k]);
    for (int64_t k = size; k < 2 * groups; k++) place[k] = 0;
    return 1.0f;
}

static inline float larger_or_nan(float largest, float one) {
    return largest != largest || one <= largest ? largest : one;
}

/* A row rounded to 255 steps of its own size, four factors in a group, `zero` added to each. Returns the step, which
 * isn't a number if one of the row isn't. */
INLINE float int8_steps(const float *from, int64_t size, int64_t groups, uint32_t *to, uint8_t zero) {
    uint8_t *place = (uint8_t *)to;
    float lanes[LANES], largest = 0.0f;
    int64_t whole = size / LANES * LANES;
    Floats high = zeros();
    for (int64_t k = 0; k < whole; k += LANES)
        high = most_or_nan(high, most(load(from + k), sub(zeros(), load(from + k))));
    store(lanes, high);
    for (int k = 0; k < LANES; k++) largest = larger_or_nan(largest, lanes[k]);
    for (int64_t k = whole; k < size; k++) {
        float one = from[k] < 0.0f ? -from[k] : from[k];
        largest = larger_or_nan(largest, one);
    }
    Floats steps = all(largest > 0.0f ? 127.0f / largest : 0.0f);
    for (int64_t k = 0; k < 4 * groups; k += LANES) {
        int32_t rounded[LANES];
        float part[LANES] = {0};
        if (k + LANES > size && k < size) memcpy(part, from + k, (size - k) * sizeof(float));
        store_words(rounded, nearest_words(mul(k + LANES <= size ? load(from + k) : load(part), steps)));
        for (int n = 0; n < LANES && k + n < 4 * groups; n++) place[k + n] = (uint8_t)(rounded[n] + zero);
    }
    return largest / 127.0f;
}

/* For instructions that multiply unsigned with signed factors: 128 is 0. */
static inline float int8_row_unsigned(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    return int8_steps(from, size, groups, to, 128);
}

static inline float int8_row_signed(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    return int8_steps(from, size, groups, to, 0);
}

/* What turns a vector of whole sums into floats. */
typedef struct {
    Floats step;  /* of each column */
    Words excess; /* what 128 for 0 has added to the sums */
} Columns;

static inline __attribute__((always_inline, unused)) Columns columns_of(const Packed *matrix, int64_t chunk,
                                                                        int64_t column) {
    return (Columns){load(matrix->scales + column), load_words(matrix->sums + chunk * 64 * matrix->panels + column)};
}

/* Sums of whole numbers onto floats, scaled by the column's and the row's step. */
static inline __attribute__((always_inline, unused)) Floats add_scaled(Floats out, Words found, Columns columns,
                                                                       float scale) {
    return fma(mul(floats_of(found), columns.step), all(scale), out);
}
