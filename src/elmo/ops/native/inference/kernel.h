/* Products and layers of a projected LSTM for one instruction set and one kind of factor. Included once for each, after
 * the set's vectors and gates.h. The kind defines:
 *
 *     KIND(name)          the functions' names
 *     TILE_ROWS           rows multiplied together, at most six: as many as keep all sums in registers
 *     CHUNK(matrix)       groups added up before they join the sum
 *     ROW_WORDS           32-bit words of a row for each group of factors
 *     Sums, NO_SUMS       one vector of sums side by side
 *     Factor, FACTOR(at)  one row's group, in every lane
 *     Weights, WEIGHTS(at) one vector of a panel's group
 *     DOT(sums, factor, weights)          their products added to the sums
 *     COLUMNS(matrix, chunk, column)      what turns a vector of sums into floats
 *     ADD_SUMS(floats, sums, columns, scale)          sums onto floats
 *     CONVERT(from, size, groups, to)     a row of floats to factors; returns its scale
 *     DIRECT              1: a row of floats is a row of factors
 *     UPDATE              the gates' arithmetic, of UPDATE_ROWS rows at a time; HIGHWAY and TANH the token encoder's
 *     GROUP               factors in a group
 *     FRESH(weights)      hides from the compiler that they are the same as before
 *
 * For processors with AMX, tiles.h has products of its own, and needs two more.
 *
 * Weights lie in panels of 64 output columns: for every group of factors 64 words of 32 bits. A gate panel's 64 columns
 * are the input, forget, output and candidate gates of the same sixteen cells, so that the gates are computed where the
 * sums end. A sum always runs over its factors in the same order, alone and among other rows: a row's bits do not
 * depend on the other rows.
 */

#ifndef ELMO_KERNEL_ONCE
#define ELMO_KERNEL_ONCE
enum { PANEL = 64, CELLS = 16, TILE_VECTORS = PANEL / LANES };

typedef struct { /* rows of factors */
    const uint32_t *first;
    int64_t stride; /* words from row to row */
    const float *scales;
} Rows;

/* Bias (NULL: zeros, unless something stands there) of one panel. */
typedef struct {
    const float *bias;
    int adds; /* 1: to what `out` holds */
} Start;

/* Weights that a tile fetches into the cache while it multiplies others. */
typedef struct {
    const char *next;
    int64_t lines; /* of 64 bytes, every FETCH_GROUPS groups */
} Fetch;
enum { FETCH_GROUPS = 16 };

/* Whether a tile takes only some columns of a panel, so that its rows go through the panel block by block. */
enum { HAS_BLOCKS = SLICE < TILE_VECTORS };

/* A tile's share, if all tiles of `count` rows fetch a panel together. One tile that takes whole panels reads from
 * memory as fast as the processor's own fetching ahead allows. */
INLINE int64_t lines_to_fetch(int64_t count, int64_t tile_rows) {
    int64_t tiles = (count + tile_rows - 1) / tile_rows, lines = FETCH_GROUPS * PANEL / 16;
    return tiles > 1 || (count > 1 && HAS_BLOCKS) ? (lines + tiles - 1) / tiles : 0;
}

/* Groups that are multiplied with all rows before the next ones, and whether a chunk begins and ends with them. */
typedef struct {
    int64_t chunk, group, end;
    int begins, ends;
} Block;

/* Up to three tiles of rows: so the weights of a block, 8 KB, come into the nearest cache once. More rows gain nothing
 * by it. */
enum { BLOCK_GROUPS = 32, BLOCK_ROWS = 18 };

/* So few rows leave registers for twice as many columns. */
enum { FEW_ROWS = 3, WIDER = 2 * SLICE < TILE_VECTORS ? 2 * SLICE : TILE_VECTORS };

static const float no_bias[PANEL];

/* Where a panel begins; NULL behind the last one and of a matrix that isn't there. */
INLINE const uint32_t *panel_of(const Packed *matrix, int64_t panel) {
    return panel < matrix->panels ? matrix->weights + panel * matrix->groups * PANEL : NULL;
}

/* Reads `size` bytes, a multiple of 256. */
static void read_memory(int64_t size, const char *from) {
    Words a = zero_words(), b = a, c = a, d = a;
    for (int64_t k = 0; k < size; k += 16 * LANES) {
        a = add_words(a, load_words(from + k)), b = add_words(b, load_words(from + k + 4 * LANES));
        c = add_words(c, load_words(from + k + 8 * LANES)), d = add_words(d, load_words(from + k + 12 * LANES));
    }
    a = add_words(add_words(a, b), add_words(c, d));
    touch(a);
}

/* The first `there` values of a vector; zeros instead of the others. */
INLINE Floats load_some(const float *from, int64_t there) {
    float part[LANES] = {0};
    if (there == LANES) return load(from);
    memcpy(part, from, there * sizeof(float));
    return load(part);
}

INLINE void store_some(float *to, Floats value, int64_t there) {
    float part[LANES];
    if (there == LANES) {
        store(to, value);
        return;
    }
    store(part, value);
    memcpy(to, part, there * sizeof(float));
}

/* The inputs' share of one panel's gates, from row `before` of the piece on. Panel by panel, so that no two rows lie a
 * power of two apart, where they would share a few lines of the cache. */
INLINE float *gates_ahead(const Work *work, int64_t panel, int64_t before) {
    return work->gates + ((panel - work->first) * work->piece + before) * PANEL;
}

/* One row's new state, this thread's columns of it, and the output. */
static void keep(const Run *run, const float *from, int64_t first, int64_t columns, float clip, float *hidden,
                 int64_t place) {
    const float *input = run->inputs + place * run->input_stride + first;
    float *output = run->outputs + place * run->output_stride + first;
    hidden += first;
    for (int64_t k = 0; k < columns; k++) hidden[k] = from[k] > clip ? clip : from[k] < -clip ? -clip : from[k];
    if (run->skips)
        for (int64_t k = 0; k < columns; k++) output[k] = hidden[k] + input[k];
    else
        memcpy(output, hidden, columns * sizeof(float));
}

/* The cells of one row, this thread's panels of them, to (`back`: from) where its sentence keeps them. */
static void move_cell(const Layer *layer, const Work *work, int64_t row, float *sentence, int back) {
    for (int64_t panel = work->first; panel < work->last; panel++) {
        int64_t first = CELLS * panel, left = layer->cell_size - first, count = left < CELLS ? left : CELLS;
        float *cell = work->cell + ((panel - work->first) * work->rows + row) * CELLS;
        if (back)
            memcpy(sentence + first, cell, count * sizeof(float));
        else {
            memset(cell, 0, CELLS * sizeof(float));
            memcpy(cell, sentence + first, count * sizeof(float));
        }
    }
}

/* Fetches the state of the sentences that begin at a step. The whole team is waited for by the caller. */
static void begin_sentences(const Layer *layer, const Run *run, const Work *work, int64_t rows, const int32_t *begins) {
    const Sentences *sentences = run->sentences;
    for (int64_t row = 0; row < rows; row++) {
        if (begins[row] < 0) continue;
        move_cell(layer, work, row, sentences->cell + begins[row] * layer->cell_size, 0);
        if (run->rank == 0)
            memcpy(run->hidden + row * layer->size, sentences->hidden + begins[row] * layer->size,
                   layer->size * sizeof(float));
    }
}

/* Hands back the state of the sentences that end at a step. */
static void end_sentences(const Layer *layer, const Run *run, const Work *work, int64_t rows, const int32_t *ends) {
    const Sentences *sentences = run->sentences;
    for (int64_t row = 0; row < rows; row++) {
        if (ends[row] < 0) continue;
        move_cell(layer, work, row, sentences->cell + ends[row] * layer->cell_size, 1);
        if (run->rank == 0)
            memcpy(sentences->hidden + ends[row] * layer->size, run->hidden + row * layer->size,
                   layer->size * sizeof(float));
    }
}
#endif

#ifdef DOT_TILES
#include "instructions/tiles.h"
#else
#define LEAVE_TILES ((void)0)

/* Sums of one tile onto `out`. `adds` is constant: 1: to what `out` holds, 0: to the bias. */
INLINE void KIND(finish)(const int adds, const int rows, const int vectors, Sums sums[6][TILE_VECTORS],
                         const Columns *columns, const float *scales, const float *bias, float *out, int64_t stride) {
    UNROLL for (int k = 0; k < vectors; k++, out += LANES) {
        Floats before = adds ? zeros() : load(bias + k * LANES);
        UNROLL for (int row = 0; row < rows; row++) {
            float *place = out + row * stride;
            if (adds) before = load(place);
            store(place, ADD_SUMS(before, sums[row][k], columns[k], scales[row]));
        }
    }
}

/* out (`rows` rows of `stride`, `vectors` vectors from `column` on) = start + the product of the rows and these columns
 * of one panel, over one block of groups. `kept`: their sums, if the chunk begins before the block or ends after it.
 * Always inlined with constant `rows` and `vectors`, so that the sums stay in registers. */
INLINE void KIND(tile)(const int rows, const int vectors, const Packed *matrix, int64_t panel, int64_t column,
                       Block block, Rows factors, Start start, Fetch fetch, Sums *kept, float *out, int64_t stride) {
    const uint32_t *weights = matrix->weights + (panel * matrix->groups + block.group) * PANEL + column;
    const uint32_t *at = factors.first + block.group * ROW_WORDS;
    int64_t first_line = fetch.lines * column / PANEL, last_line = fetch.lines * (column + vectors * LANES) / PANEL;
    Sums sums[6][TILE_VECTORS];
    kept += column / LANES;
    UNROLL for (int row = 0; row < rows; row++) {
        UNROLL for (int k = 0; k < vectors; k++) sums[row][k] =
            !HAS_BLOCKS || block.begins ? NO_SUMS : kept[row * TILE_VECTORS + k];
    }
    for (int64_t group = block.group; group < block.end;) {
        int64_t stop = group + FETCH_GROUPS < block.end ? group + FETCH_GROUPS : block.end;
        for (int64_t line = first_line; line < last_line; line++) __builtin_prefetch(fetch.next + 64 * line, 0, 2);
        fetch.next += 64 * fetch.lines;
        for (; group < stop; group++, weights += PANEL, at += ROW_WORDS) {
            if (rows <= FEW_ROWS) { /* more columns than rows: a register for each factor, one for the weights */
                Factor now[6];
                UNROLL for (int row = 0; row < rows; row++) now[row] = FACTOR(at + row * factors.stride);
                UNROLL for (int k = 0; k < vectors; k++) {
                    Weights there = WEIGHTS(weights + k * LANES);
                    UNROLL for (int row = 0; row < rows; row++) sums[row][k] = DOT(sums[row][k], now[row], there);
                }
                continue;
            }
            Weights now[TILE_VECTORS];
            UNROLL for (int k = 0; k < vectors; k++) now[k] = WEIGHTS(weights + k * LANES);
            UNROLL for (int row = 0; row < rows; row++) {
                Factor factor = FACTOR(at + row * factors.stride);
                UNROLL for (int k = 0; k < vectors; k++) sums[row][k] = DOT(sums[row][k], factor, now[k]);
            }
        }
    }
    if (HAS_BLOCKS && !block.ends) {
        UNROLL for (int row = 0; row < rows; row++) {
            UNROLL for (int k = 0; k < vectors; k++) kept[row * TILE_VECTORS + k] = sums[row][k];
        }
        return;
    }
    Columns columns[TILE_VECTORS];
    UNROLL for (int k = 0; k < vectors; k++) columns[k] =
        COLUMNS(matrix, block.chunk, PANEL * panel + column + k * LANES);
    if (start.adds)
        KIND(finish)(1, rows, vectors, sums, columns, factors.scales, NULL, out + column, stride);
    else
        KIND(finish)(0, rows, vectors, sums, columns, factors.scales, start.bias + column, out + column, stride);
}

/* Tiles of one to six rows: one row takes the whole panel at once, if there are registers for it, because nothing but
 * reading its weights counts. */
#define TILE(ROWS, VECTORS)                                                                                            \
    static __attribute__((noinline)) void KIND(tile##ROWS)(const Packed *matrix, int64_t panel,                        \
                                                           const Block *block, Rows factors, Start start, Fetch fetch, \
                                                           Sums *kept, float *out, int64_t stride) {                   \
        for (int64_t column = 0; column < PANEL; column += (VECTORS)*LANES)                                            \
            KIND(tile)(ROWS, VECTORS, matrix, panel, column, *block, factors, start, fetch, kept, out, stride);        \
    }
TILE(1, ALONE)
TILE(2, WIDER)
TILE(3, WIDER)
TILE(4, SLICE)
TILE(5, SLICE)
TILE(6, SLICE)

/* out (count rows of `stride`, 64 columns) = start + the product of all rows and one panel; `next`: the weights that
 * are multiplied after these, fetched meanwhile (NULL: none). */
static void KIND(product)(const Packed *matrix, int64_t panel, int64_t count, Rows factors, Start start,
                          const uint32_t *next, float *out, int64_t stride) {
    int64_t groups = matrix->groups, size = CHUNK(matrix) < groups ? CHUNK(matrix) : groups;
    int together = HAS_BLOCKS && count > 1 && count <= BLOCK_ROWS;
    int64_t most = together && size > BLOCK_GROUPS ? BLOCK_GROUPS : size, lines = lines_to_fetch(count, TILE_ROWS);
    Sums kept[BLOCK_ROWS * TILE_VECTORS];
    if (!start.bias) start.bias = no_bias;
    for (Block block = {.begins = 1}; block.group < groups; block.group = block.end) {
        int64_t chunk_end = (block.chunk + 1) * size < groups ? (block.chunk + 1) * size : groups;
        block.end = block.group + most < chunk_end ? block.group + most : chunk_end;
        block.ends = block.end == chunk_end;
        const char *from = (const char *)(block.end == groups ? next : panel_of(matrix, panel) + block.end * PANEL);
        int64_t left = from ? most * PANEL / 16 : 0;
        for (int64_t row = 0; row < count;) {
            Rows now = {factors.first + row * factors.stride, factors.stride, factors.scales + row};
            Fetch fetch = {from, left > 0 ? lines : 0};
            float *place = out + row * stride;
            Sums *place_kept = kept + (together ? row * TILE_VECTORS : 0);
            int64_t rows = count - row < TILE_ROWS ? count - row : TILE_ROWS;
            int64_t fetched = (block.end - block.group) / FETCH_GROUPS * lines;
            switch (rows) {
#define RUN(ROWS)                                                                                                      \
    case ROWS:                                                                                                         \
        KIND(tile##ROWS)(matrix, panel, &block, now, start, fetch, place_kept, place, stride);                         \
        break;
                RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6)
#undef RUN
            }
            row += rows, from += 64 * fetched, left -= fetched;
        }
        block.begins = block.ends;
        if (block.ends) block.chunk++, start.adds = 1;
    }
}

/* Nothing but products, on registers: the yardstick of the benchmarks. */
#define PEAK_WORDS (PEAK_SUMS * LANES)
static void KIND(peak)(int64_t rounds) {
    static const uint32_t zeros_there[PANEL];
    const uint32_t *at = zeros_there;
    __asm__ volatile("" : "+r"(at)); /* the compiler must not know what stands there */
    Sums sums[PEAK_SUMS];
    Weights weights = WEIGHTS(at);
    Factor factor = FACTOR(at);
    UNROLL for (int k = 0; k < PEAK_SUMS; k++) sums[k] = NO_SUMS;
    for (int64_t round = 0; round < rounds; round++) {
        UNROLL for (int k = 0; k < PEAK_SUMS; k++) {
            FRESH(weights);
            sums[k] = DOT(sums[k], factor, weights);
        }
        UNROLL for (int k = 0; k < PEAK_SUMS; k++) touch(sums[k]);
    }
}
#endif

/* Rows of floats as factors: converted into `to`, or as they are. */
static Rows KIND(factors)(const float *from, int64_t stride, int64_t count, int64_t size, int64_t groups, uint32_t *to,
                          float *scales) {
    if (DIRECT) {
        for (int64_t row = 0; row < count; row++) scales[row] = 1.0f;
        return (Rows){(const uint32_t *)from, stride, scales};
    }
    for (int64_t row = 0; row < count; row++)
        scales[row] = CONVERT(from + row * stride, size, groups, to + row * groups * ROW_WORDS);
    return (Rows){to, groups * ROW_WORDS, scales};
}

/* out (count, 64 * panels) = rows (count, inner) * matrix + bias, the panels [first, last). work: see layer.h. */
static void KIND(multiply)(const Packed *matrix, const float *bias, const float *rows, int64_t count, int64_t inner,
                           int64_t first, int64_t last, char *work, float *out) {
    float *scales = (float *)work;
    uint32_t *room = (uint32_t *)(scales + ROWS_AT_ONCE);
    int64_t stride = PANEL * matrix->panels;
    for (int64_t row = 0; row < count; row += ROWS_AT_ONCE) {
        int64_t now = count - row < ROWS_AT_ONCE ? count - row : ROWS_AT_ONCE;
        Rows factors = KIND(factors)(rows + row * inner, inner, now, inner, matrix->groups, room, scales);
        for (int64_t panel = first; panel < last; panel++) {
            Start start = {bias ? bias + PANEL * panel : NULL, 0};
            const uint32_t *next = panel + 1 < last ? panel_of(matrix, panel + 1) : NULL;
            float made[ROWS_AT_ONCE * PANEL] __attribute__((aligned(64))), *place = out + row * stride + PANEL * panel;
            KIND(product)(matrix, panel, now, factors, start, next, made, PANEL);
            for (int64_t k = 0; k < now; k++) memcpy(place + k * stride, made + PANEL * k, PANEL * sizeof(float));
        }
    }
    LEAVE_TILES;
}

/* The gates of sixteen cells in `count` rows (constant): `gates` (count, 64) -> the panel's cells and `made`, o *
 * tanh(c).
 */
INLINE void KIND(gates_of)(const int count, int64_t cells, int64_t stride, Floats low, Floats high, const float *gates,
                           float *cell, float *made) {
    for (int k = 0; k < CELLS; k += LANES) {
        Floats now[4][8], before[8], output[8];
        UNROLL for (int row = 0; row < count; row++) {
            UNROLL for (int gate = 0; gate < 4; gate++) now[gate][row] = load(gates + row * PANEL + gate * CELLS + k);
            before[row] = load(cell + row * CELLS + k);
        }
        UPDATE(count, now, low, high, before, output);
        UNROLL for (int row = 0; row < count; row++) {
            int64_t there = cells - k < LANES ? cells - k : LANES;
            store(cell + row * CELLS + k, before[row]);
            if (there > 0) store_some(made + row * stride + k, output[row], there);
        }
    }
}

/* The same in any number of rows. */
static void KIND(gates)(const Layer *layer, int64_t panel, int64_t count, const float *gates, float *cell,
                        float *made) {
    int64_t stride = layer->cell_size, left = stride - CELLS * panel, row = 0;
    Floats high = all(layer->cell_clip), low = all(-layer->cell_clip);
    made += CELLS * panel;
    for (; row + UPDATE_ROWS <= count; row += UPDATE_ROWS) KIND(gates_of)
    (UPDATE_ROWS, left, stride, low, high, gates + row * PANEL, cell + row * CELLS, made + row * stride);
    for (; row < count; row++)
        KIND(gates_of)(1, left, stride, low, high, gates + row * PANEL, cell + row * CELLS, made + row * stride);
}

/* The gates' inputs from this step's inputs, or from those of as many steps as make the products worth while. */
static Rows KIND(begin_piece)(const Layer *layer, const Run *run, Work *work, int64_t step, int64_t done) {
    int64_t count = run->alive[step], groups = layer->input.groups;
    work->ahead = count < elmo_enough_rows(layer);
    work->next = step + 1;
    for (int64_t *t = &work->next; work->ahead && *t < run->steps && count + run->alive[*t] <= work->piece; ++*t)
        count += run->alive[*t];
    for (int64_t row = 0; row < count; row++)
        work->input_scales[row] = CONVERT(run->inputs + run->places[done + row] * run->input_stride, layer->dim, groups,
                                          work->inputs + row * groups * ROW_WORDS);
    Rows inputs = {work->inputs, groups * ROW_WORDS, work->input_scales};
    if (!work->ahead) return inputs; /* many rows: multiplied panel by panel, where they stay in the cache */
    for (int64_t panel = work->first; panel < work->last; panel++) {
        Start start = {layer->bias + PANEL * panel, 0};
        KIND(product)
        (&layer->input, panel, count, inputs, start, panel_of(&layer->input, panel + 1), gates_ahead(work, panel, 0),
         PANEL);
    }
    return inputs;
}

/* One step's cells, and o * tanh(c) in run->made. `before`: rows of the piece before this step. */
static void KIND(cells)(const Layer *layer, const Run *run, const Work *work, Rows inputs, Rows hidden, int64_t rows,
                        int64_t before) {
    const Packed *gate_weights = work->ahead ? &layer->recurrent : &layer->input;
    const uint32_t *first_of_projection = panel_of(&layer->projection, work->first_out);
    for (int64_t panel = work->first; panel < work->last; panel++) {
        float *place = work->ahead ? gates_ahead(work, panel, before) : work->gates;
        if (!work->ahead) KIND(product)
        (&layer->input, panel, rows, inputs, (Start){layer->bias + PANEL * panel, 0},
         panel_of(&layer->recurrent, panel), place, PANEL);
        const uint32_t *next = panel + 1 < work->last ? panel_of(gate_weights, panel + 1) : first_of_projection;
        KIND(product)(&layer->recurrent, panel, rows, hidden, (Start){NULL, 1}, next, place, PANEL);
        float *cell = work->cell + (panel - work->first) * work->rows * CELLS;
        KIND(gates)(layer, panel, rows, place, cell, run->made);
    }
}

/* run->made -> the new state and one step's outputs, this thread's columns of them. */
static void KIND(project)(const Layer *layer, const Run *run, const Work *work, int64_t rows, const int64_t *places) {
    int64_t size = layer->size, cells = layer->cell_size;
    elmo_meet(run);
    if (!layer->projection.weights) {
        int64_t begin = CELLS * work->first, end = CELLS * work->last < size ? CELLS * work->last : size;
        for (int64_t row = 0; row < rows && begin < end; row++)
            keep(run, run->made + row * cells + begin, begin, end - begin, INFINITY, run->hidden + row * size,
                 places[row]);
        return;
    }
    const uint32_t *first_of_gates = panel_of(work->ahead ? &layer->recurrent : &layer->input, work->first);
    Rows made = KIND(factors)(run->made, cells, rows, cells, layer->projection.groups, work->made, work->made_scales);
    for (int64_t panel = work->first_out; panel < work->last_out; panel++) {
        const uint32_t *next = panel + 1 < work->last_out ? panel_of(&layer->projection, panel + 1) : first_of_gates;
        KIND(product)(&layer->projection, panel, rows, made, (Start){NULL, 0}, next, work->projected, PANEL);
        int64_t columns = size - PANEL * panel < PANEL ? size - PANEL * panel : PANEL;
        for (int64_t row = 0; row < rows; row++)
            keep(run, work->projected + PANEL * row, PANEL * panel, columns, layer->projection_clip,
                 run->hidden + row * size, places[row]);
    }
}

/* The whole layer; `Layer`, `Run` and `Sentences` say what is read and written. */
static void KIND(run_layer)(const Layer *layer, const Run *run) {
    const Sentences *sentences = run->sentences;
    int64_t done = 0, before = 0, size = layer->size, rows = run->steps ? run->alive[0] : 0;
    Work work = elmo_divided(layer, run);
    Rows inputs = {NULL, 0, NULL};
    if (!sentences) /* each row is a sentence: its state lies where the run keeps it */
        for (int64_t row = 0; row < rows; row++) move_cell(layer, &work, row, run->cell + row * layer->cell_size, 0);
    for (int64_t step = 0; step < run->steps; step++) {
        rows = run->alive[step];
        if (sentences) begin_sentences(layer, run, &work, rows, sentences->begins + done);
        elmo_meet(run); /* the whole state of the step before is there */
        Rows hidden =
            KIND(factors)(run->hidden, size, rows, size, layer->recurrent.groups, work.hidden, work.hidden_scales);
        if (step == work.next) {
            inputs = KIND(begin_piece)(layer, run, &work, step, done);
            before = 0;
        }
        KIND(cells)(layer, run, &work, inputs, hidden, rows, before);
        KIND(project)(layer, run, &work, rows, run->places + done);
        if (sentences) {
            elmo_meet(run);
            end_sentences(layer, run, &work, rows, sentences->ends + done);
        }
        done += rows, before += rows;
    }
    if (!sentences) {
        rows = run->steps ? run->alive[0] : 0;
        for (int64_t row = 0; row < rows; row++) move_cell(layer, &work, row, run->cell + row * layer->cell_size, 1);
    }
    LEAVE_TILES;
    elmo_meet(run);
}

/* Each filter's maximum over one token's windows, of one width and panel of filters. The windows lie in `factors`, a
 * character apart. */
static void KIND(best_windows)(const Packed *filters, int64_t panel, int64_t windows, Rows factors, float *room,
                               float *best, int64_t columns) {
    KIND(product)(filters, panel, windows, factors, (Start){NULL, 0}, NULL, room, PANEL);
    for (int64_t row = 1; row < windows; row++)
        for (int k = 0; k < PANEL; k += LANES)
            store(room + k, most_or_nan(load(room + k), load(room + row * PANEL + k)));
    memcpy(best, room, columns * sizeof(float));
}

/* The convolutions of at most ROWS_AT_ONCE tokens -> features (count, features), before bias and activation. */
static void KIND(convolve)(const Encoder *encoder, const int32_t *ids, int64_t count, const EncoderWork *work) {
    int64_t characters = encoder->characters, dim = encoder->dim, words = characters * dim / GROUP * ROW_WORDS;
    int64_t used[ROWS_AT_ONCE];
    for (int64_t token = 0; token < count; token++, ids += characters) {
        /* What follows the last character that differs from the row's end is padding. A window that starts there sees
         * nothing else, so one of them is as good as all. */
        used[token] = characters;
        while (used[token] > 0 && ids[used[token] - 1] == ids[characters - 1]) used[token]--;
        for (int64_t k = 0; k < characters; k++)
            memcpy(work->vectors + k * dim, encoder->embedding + ids[k] * dim, dim * sizeof(float));
        CONVERT(work->vectors, characters * dim, characters * dim / GROUP, work->factors + token * words);
    }
    for (int64_t width = 0, first = 0; width < encoder->num_widths; first += encoder->numbers[width], width++) {
        int64_t most_windows = characters - encoder->widths[width] + 1, number = encoder->numbers[width];
        for (int64_t panel = 0; panel < encoder->filters[width].panels; panel++) {
            int64_t left = number - PANEL * panel, columns = left < PANEL ? left : PANEL;
            for (int64_t token = 0; token < count; token++) {
                int64_t windows = used[token] + 1 < most_windows ? used[token] + 1 : most_windows;
                Rows factors = {work->factors + token * words, dim / GROUP * ROW_WORDS, work->ones};
                float *best = work->features + token * encoder->features + first + PANEL * panel;
                KIND(best_windows)(&encoder->filters[width], panel, windows, factors, work->room, best, columns);
            }
        }
    }
}

/* features (count, features) + bias, squashed, in place. */
static void KIND(activate)(const Encoder *encoder, int64_t count, float *features) {
    int64_t size = encoder->features;
    for (int64_t row = 0; row < count; row++, features += size)
        for (int64_t k = 0; k < size; k += LANES) {
            int64_t there = size - k < LANES ? size - k : LANES;
            Floats sum = add(load_some(features + k, there), load_some(encoder->filter_bias + k, there));
            store_some(features + k, encoder->squashes ? TANH(sum) : most(zeros(), sum), there);
        }
}

/* One highway layer: y = g * relu(transform(x)) + (1 - g) * x with g = logistic(gate(x)), in place. */
static void KIND(highway)(const Encoder *encoder, int64_t layer, int64_t count, const EncoderWork *work) {
    const Packed *transform = &encoder->transforms[layer], *gate = &encoder->gates[layer];
    int64_t size = encoder->features, stride = PANEL * transform->panels;
    KIND(multiply)
    (transform, encoder->transform_biases[layer], work->features, count, size, 0, transform->panels, work->product,
     work->transformed);
    KIND(multiply)
    (gate, encoder->gate_biases[layer], work->features, count, size, 0, gate->panels, work->product, work->gates);
    for (int64_t row = 0; row < count; row++)
        for (int64_t k = 0; k < size; k += LANES) {
            int64_t there = size - k < LANES ? size - k : LANES;
            float *place = work->features + row * size + k;
            Floats gate_sum = load(work->gates + row * stride + k);
            Floats made = most(zeros(), load(work->transformed + row * stride + k));
            store_some(place, HIGHWAY(gate_sum, made, load_some(place, there)), there);
        }
}

/* ids (count, characters) -> token vectors (count, size). */
static void KIND(encode)(const Encoder *encoder, const int32_t *ids, int64_t count, char *room, float *out) {
    EncoderWork work = elmo_encoder_divided(encoder, room);
    const Packed *projection = &encoder->projection;
    for (int64_t k = 0; k < encoder->characters; k++) work.ones[k] = 1.0f;
    for (int64_t done = 0; done < count; done += ROWS_AT_ONCE) {
        int64_t now = count - done < ROWS_AT_ONCE ? count - done : ROWS_AT_ONCE;
        KIND(convolve)(encoder, ids + done * encoder->characters, now, &work);
        KIND(activate)(encoder, now, work.features);
        for (int64_t layer = 0; layer < encoder->num_highways; layer++) KIND(highway)(encoder, layer, now, &work);
        const float *rows = work.features;
        int64_t stride = encoder->features;
        if (projection->weights) {
            KIND(multiply)
            (projection, encoder->projection_bias, work.features, now, stride, 0, projection->panels, work.product,
             work.transformed);
            rows = work.transformed, stride = PANEL * projection->panels;
        }
        for (int64_t row = 0; row < now; row++)
            memcpy(out + (done + row) * encoder->size, rows + row * stride, encoder->size * sizeof(float));
    }
    LEAVE_TILES;
}

static const Kernels KIND(kernels) = {KIND(multiply), KIND(run_layer), KIND(encode),
                                      KIND(peak),     read_memory,     PEAK_WORDS};

#undef KIND
#undef TILE_ROWS
#undef CHUNK
#undef ROW_WORDS
#undef Sums
#undef NO_SUMS
#undef Factor
#undef FACTOR
#undef Weights
#undef WEIGHTS
#undef DOT
#undef ADD_SUMS
#undef COLUMNS
#undef CONVERT
#undef DIRECT
#undef UPDATE
#undef UPDATE_ROWS
#undef HIGHWAY
#undef TANH
#undef GROUP
#undef FRESH
#undef TILE
#undef PEAK_WORDS
#undef LEAVE_TILES
#undef DOT_TILES
#undef LOAD_SUMS
