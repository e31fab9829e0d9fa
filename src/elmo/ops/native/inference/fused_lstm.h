/* One layer of a projected LSTM over rows of shrinking number, for one kind of factor. Included by fused_lstm.c once
 * for each kind, which defines: KIND(name), FAST (the instruction set), Sums and DOT (sixteen sums side by side, one
 * product added), ADD_SUMS (sums onto floats), CONVERT (a row of floats to factors), and the gates' arithmetic UPDATE.
 *
 * Specification and oracle: ops/projected_lstm/reference.py.
 *
 * Weights lie in panels of 64 output columns: for every group of factors 4 x 16 lanes of 32 bits. A gate panel's 4 x 16
 * lanes are the input, forget, output and candidate gates of the same sixteen cells, so that the gates are made where
 * the sums end. A sum always runs over its factors in the same order, alone and among other rows: a row's bits do not
 * depend on the rows beside it.
 */

/* out (ROWS rows of `stride`, 64 columns) += the product of the rows and one panel, over the groups [begin, end). The
 * sums are variables, not an array, so that compilers keep them in registers. */
#define EACH_1(DO) DO(0)
#define EACH_2(DO) EACH_1(DO) DO(1)
#define EACH_3(DO) EACH_2(DO) DO(2)
#define EACH_4(DO) EACH_3(DO) DO(3)
#define EACH_5(DO) EACH_4(DO) DO(4)
#define EACH_6(DO) EACH_5(DO) DO(5)
#define START(ROW) Sums a##ROW = NO_SUMS, b##ROW = NO_SUMS, c##ROW = NO_SUMS, d##ROW = NO_SUMS;
#define MULTIPLY(ROW)                                                                                                  \
    factor = _mm512_set1_epi32((int)rows[ROW * groups + group]);                                                       \
    a##ROW = DOT(a##ROW, factor, w0), b##ROW = DOT(b##ROW, factor, w1);                                                \
    c##ROW = DOT(c##ROW, factor, w2), d##ROW = DOT(d##ROW, factor, w3);
#define FINISH_PART(ROW, SUMS, PART)                                                                                   \
    place = out + ROW * stride + PART;                                                                                 \
    _mm512_storeu_ps(place, ADD_SUMS(_mm512_loadu_ps(place), SUMS, matrix, chunk, 64 * panel + PART, row_scales[ROW]));
#define FINISH(ROW)                                                                                                    \
    FINISH_PART(ROW, a##ROW, 0) FINISH_PART(ROW, b##ROW, 16) FINISH_PART(ROW, c##ROW, 32) FINISH_PART(ROW, d##ROW, 48)
#define TILE(ROWS)                                                                                                     \
    FAST static void KIND(tile##ROWS)(const Packed *matrix, int64_t panel, int64_t chunk, const uint32_t *rows,        \
                                      const float *row_scales, float *out, int64_t stride) {                           \
        int64_t groups = matrix->groups, begin = chunk * matrix->chunk, end = begin + matrix->chunk;                   \
        const uint32_t *weights = matrix->weights + (panel * groups + begin) * 64;                                     \
        float *place;                                                                                                  \
        EACH_##ROWS(START) end = end < groups ? end : groups;                                                          \
        for (int64_t group = begin; group < end; group++, weights += 64) {                                             \
            __m512i w0 = _mm512_loadu_si512(weights), w1 = _mm512_loadu_si512(weights + 16), factor;                   \
            __m512i w2 = _mm512_loadu_si512(weights + 32), w3 = _mm512_loadu_si512(weights + 48);                      \
            EACH_##ROWS(MULTIPLY)                                                                                      \
        }                                                                                                              \
        EACH_##ROWS(FINISH)                                                                                            \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)

/* out (count rows of `stride`, 64 columns) += the product of all rows and one panel. */
FAST static void KIND(product)(const Packed *matrix, int64_t panel, int64_t count, const uint32_t *rows,
                               const float *row_scales, float *out, int64_t stride) {
    for (int64_t chunk = 0; chunk * matrix->chunk < matrix->groups; chunk++) {
        for (int64_t row = 0; row < count;) {
            const uint32_t *first = rows + row * matrix->groups;
            const float *scales = row_scales + row;
            float *place = out + row * stride;
#define RUN(ROWS)                                                                                                      \
    case ROWS:                                                                                                         \
        KIND(tile##ROWS)(matrix, panel, chunk, first, scales, place, stride);                                          \
        break;
            int64_t now = count - row < 6 ? count - row : 6;
            switch (now) { RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6) }
#undef RUN
            row += now;
        }
    }
}

FAST static void KIND(convert_rows)(const float *from, int64_t count, int64_t size, int64_t groups, uint32_t *to,
                                    float *scales) {
    for (int64_t row = 0; row < count; row++) scales[row] = CONVERT(from + row * size, size, groups, to + row * groups);
}

/* out (count, 64 * panels) = rows (count, inner) * matrix + bias, the panels [first, last). work: see below. */
FAST static void KIND(multiply)(const Packed *matrix, const float *bias, const float *rows, int64_t count,
                                int64_t inner, int64_t first, int64_t last, char *work, float *out) {
    float *scales = (float *)work;
    uint32_t *factors = (uint32_t *)(scales + ROWS_AT_ONCE);
    int64_t stride = 64 * matrix->panels;
    for (int64_t row = 0; row < count; row += ROWS_AT_ONCE) {
        int64_t now = count - row < ROWS_AT_ONCE ? count - row : ROWS_AT_ONCE;
        KIND(convert_rows)(rows + row * inner, now, inner, matrix->groups, factors, scales);
        for (int64_t panel = first; panel < last; panel++) {
            float *place = out + row * stride + 64 * panel;
            begin_with(bias ? bias + 64 * panel : NULL, now, place, stride);
            KIND(product)(matrix, panel, now, factors, scales, place, stride);
        }
    }
}

/* The gates of sixteen cells in every row: `gates` (rows of `stride`) -> cell (rows, cell_size) and `made`, o * tanh(c)
 * (rows of `made_stride`). */
FAST static void KIND(gates)(const Layer *layer, int64_t panel, int64_t count, const float *gates, int64_t stride,
                             float *cell, float *made, int64_t made_stride) {
    int64_t first = 16 * panel, left = layer->cell_size - first;
    __mmask16 there = left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1);
    __m512 high = _mm512_set1_ps(layer->cell_clip), low = _mm512_set1_ps(-layer->cell_clip);
    for (int64_t row = 0; row < count; row++, gates += stride, made += made_stride, cell += layer->cell_size) {
        __m512 before = _mm512_maskz_loadu_ps(there, cell + first), output;
        __m512 after = UPDATE(_mm512_loadu_ps(gates), _mm512_loadu_ps(gates + 16), _mm512_loadu_ps(gates + 32),
                              _mm512_loadu_ps(gates + 48), before, low, high, &output);
        _mm512_mask_storeu_ps(cell + first, there, after);
        _mm512_mask_storeu_ps(made + first, there, output);
    }
}

/* The gates' inputs from this step's inputs, or from those of as many steps as make the products worth while. */
FAST static void KIND(begin_piece)(const Layer *layer, const Run *run, const Work *work, int64_t step, int64_t done) {
    int64_t count = 0, width = 64 * layer->recurrent.panels, groups = layer->input.groups;
    for (int64_t t = step; t < run->steps && t < step + work->ahead; t++) count += run->alive[t];
    for (int64_t row = 0; row < count; row++)
        work->input_scales[row] = CONVERT(run->inputs + run->places[done + row] * run->input_stride, layer->dim, groups,
                                          work->inputs + row * groups);
    if (work->ahead == 1) return; /* many rows: made panel by panel, where they stay in the cache */
    for (int64_t panel = work->first; panel < work->last; panel++) {
        float *place = work->gates + 64 * panel;
        begin_with(layer->bias + 64 * panel, count, place, width);
        KIND(product)(&layer->input, panel, count, work->inputs, work->input_scales, place, width);
    }
}

/* One step's cells, and o * tanh(c) in run->made. `before`: rows of the piece before this step. */
FAST static void KIND(cells)(const Layer *layer, const Run *run, const Work *work, int64_t rows, int64_t before) {
    int64_t width = 64 * layer->recurrent.panels;
    for (int64_t panel = work->first; panel < work->last; panel++) {
        float *place = work->gates;
        int64_t stride = 64;
        if (work->ahead == 1) {
            begin_with(layer->bias + 64 * panel, rows, place, stride);
            KIND(product)(&layer->input, panel, rows, work->inputs, work->input_scales, place, stride);
        } else {
            place += before * width + 64 * panel, stride = width;
        }
        KIND(product)(&layer->recurrent, panel, rows, work->hidden, work->hidden_scales, place, stride);
        KIND(gates)(layer, panel, rows, place, stride, run->cell, run->made, layer->cell_size);
    }
}

/* run->made -> the new state and one step's outputs, this thread's columns of them. */
FAST static void KIND(project)(const Layer *layer, const Run *run, const Work *work, int64_t rows,
                               const int64_t *places) {
    int64_t size = layer->size, cells = layer->cell_size;
    meet(run);
    if (!layer->projection.weights) {
        int64_t begin = 16 * work->first, end = 16 * work->last < size ? 16 * work->last : size;
        for (int64_t row = 0; row < rows && begin < end; row++)
            keep(run, run->made + row * cells + begin, begin, end - begin, INFINITY, run->hidden + row * size,
                 places[row]);
        return;
    }
    KIND(convert_rows)(run->made, rows, cells, layer->projection.groups, work->made, work->made_scales);
    for (int64_t panel = work->first_out; panel < work->last_out; panel++) {
        begin_with(NULL, rows, work->projected, 64);
        KIND(product)(&layer->projection, panel, rows, work->made, work->made_scales, work->projected, 64);
        int64_t columns = size - 64 * panel < 64 ? size - 64 * panel : 64;
        for (int64_t row = 0; row < rows; row++)
            keep(run, work->projected + 64 * row, 64 * panel, columns, layer->projection_clip, run->hidden + row * size,
                 places[row]);
    }
}

/* The whole layer; `Layer`, `Run` and `Work` say what is read and written. */
FAST static void KIND(run_layer)(const Layer *layer, const Run *run) {
    int64_t done = 0, before = 0, size = layer->size, rows = run->steps ? run->alive[0] : 0;
    Work work = divided(layer, run);
    KIND(convert_rows)(run->hidden, rows, size, layer->recurrent.groups, work.hidden, work.hidden_scales);
    meet(run);
    for (int64_t step = 0; step < run->steps; step++) {
        rows = run->alive[step];
        if (step % work.ahead == 0) {
            KIND(begin_piece)(layer, run, &work, step, done);
            before = 0;
        }
        KIND(cells)(layer, run, &work, rows, before);
        KIND(project)(layer, run, &work, rows, run->places + done);
        meet(run);
        KIND(convert_rows)(run->hidden, rows, size, layer->recurrent.groups, work.hidden, work.hidden_scales);
        done += rows, before += rows;
    }
    meet(run);
}

#undef EACH_1
#undef EACH_2
#undef EACH_3
#undef EACH_4
#undef EACH_5
#undef EACH_6
#undef START
#undef MULTIPLY
#undef FINISH_PART
#undef FINISH
#undef TILE
