/* What JavaScript calls: a model is laid out in the memory once, then tokens are encoded and layers read. All arguments
 * are 32-bit, since a 64-bit one would be a BigInt there. src/elmo/browser/kernels.js is the only caller and gives every
 * address, count and size; nothing of a user's comes here unchecked. */
#include "../inference/work.h"
#include "../processor/processor.h"
#include "../training/arithmetic.h"
#include "kernels.h"

enum { PANEL_COLUMNS = 64, GATE_CELLS = 16, PAGE_BYTES = 65536 };

/* --- memory: one heap that only grows, and is taken back from its end --- */

extern char __heap_base;
static char *top;

/* Where the heap ends now. `release` takes back all that was given since. */
EXPORTED char *mark(void) { return top ? top : (char *)(((uintptr_t)&__heap_base + 63) & ~(uintptr_t)63); }

EXPORTED void release(char *to) { top = to; }

/* NULL if there is no such memory. */
static void *take(int64_t bytes) {
    char *found = mark();
    int64_t end = ((int64_t)(uintptr_t)found + bytes + 63) & ~(int64_t)63;
    int64_t pages = (end + PAGE_BYTES - 1) / PAGE_BYTES, there = __builtin_wasm_memory_size(0);
    if (bytes < 0 || end > UINT32_MAX) return NULL;
    if (pages > there && __builtin_wasm_memory_grow(0, pages - there) == (size_t)-1) return NULL;
    top = (char *)(uintptr_t)end;
    return found;
}

EXPORTED void *room(uint32_t bytes) { return take(bytes); }

/* --- weights --- */

enum { STORED_F32, STORED_F16, STORED_BF16, STORED_I8 };

static float from_float16(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    float value;
    memcpy(&value, &bits, 4);
    value *= 0x1p112f; /* the exponents are counted from others; this is exact for the smallest too */
    memcpy(&bits, &value, 4);
    bits |= sign;
    memcpy(&value, &bits, 4);
    return value;
}

/* One row of values as floats. `step`: of int8. */
static void widen_row(int type, const char *from, int64_t count, float step, float *to) {
    const uint16_t *halves = (const uint16_t *)from;
    if (type == STORED_F32) memcpy(to, from, count * 4);
    if (type == STORED_F16)
        for (int64_t k = 0; k < count; k++) to[k] = from_float16(halves[k]);
    if (type == STORED_BF16)
        for (int64_t k = 0; k < count; k++) to[k] = from_bfloat16(halves[k]);
    if (type == STORED_I8)
        for (int64_t k = 0; k < count; k++) to[k] = (float)((const int8_t *)from)[k] * step;
}

static int64_t bytes_of(int type) { return type == STORED_F32 ? 4 : type == STORED_I8 ? 1 : 2; }

/* rows of `inner` values as floats. */
EXPORTED void widen(int type, const char *from, const float *steps, int rows, int inner, float *to) {
    for (int64_t row = 0; row < rows; row++)
        widen_row(type, from + row * inner * bytes_of(type), inner, type == STORED_I8 ? steps[row] : 1, to + row * inner);
}

/* For each column of the panels the weight's row, or -1. cells: 0, or those of a layer, whose gates' rows belong
 * together (kernel.h). */
static int64_t row_of(int64_t column, int64_t outer, int64_t cells) {
    if (!cells) return column < outer ? column : -1;
    int64_t cell = column / PANEL_COLUMNS * GATE_CELLS + column % GATE_CELLS;
    return cell < cells ? column % PANEL_COLUMNS / GATE_CELLS * cells + cell : -1;
}

static int64_t columns_of_panels(int64_t outer, int64_t cells) {
    int64_t columns = cells ? (cells + GATE_CELLS - 1) / GATE_CELLS * PANEL_COLUMNS : outer;
    return (columns + PANEL_COLUMNS - 1) / PANEL_COLUMNS * PANEL_COLUMNS;
}

/* A row's step, so that its largest value is 127 of them, and of few bits, as weights/native/narrow.py has it. */
static float step_of(const float *row, int64_t inner) {
    float largest = 0.0f;
    for (int64_t k = 0; k < inner; k++) {
        float one = row[k] < 0.0f ? -row[k] : row[k];
        largest = one > largest ? one : largest;
    }
    uint32_t bits;
    largest /= 127.0f;
    memcpy(&bits, &largest, 4);
    bits = (bits + 0xffu) & ~0xffu;
    memcpy(&largest, &bits, 4);
    return largest;
}

/* One column of a panel, `at` its first group: the values of a row, or the int8 it is stored as. */
static void put_floats(const float *row, int64_t inner, int64_t within, uint32_t *at) {
    for (int64_t k = 0; k < inner; k++) memcpy(at + k * PANEL_COLUMNS + within, row + k, 4);
}

static void put_pairs(const float *row, int64_t inner, int64_t within, uint32_t *at) {
    for (int64_t k = 0; k < inner; k++)
        ((uint16_t *)(at + k / 2 * PANEL_COLUMNS))[2 * within + k % 2] = to_bfloat16(row[k]);
}

/* In each vector of four columns the first pairs of all four, then the second ones: see int8_rows.h. */
static void put_bytes(const int8_t *row, int64_t inner, int64_t within, uint32_t *at) {
    int8_t *to = (int8_t *)at + within / 4 * 16 + within % 4 * 2;
    for (int64_t k = 0; k < inner; k++) to[k / 4 * PANEL_COLUMNS * 4 + k % 4 / 2 * 8 + k % 2] = row[k];
}

/* In steps, ties to even. */
static void round_row(const float *row, int64_t inner, float step, int8_t *to) {
    for (int64_t k = 0; k < inner; k++) {
        float whole = (step > 0.0f ? row[k] / step : 0.0f) + 12582912.0f - 12582912.0f;
        to[k] = (int8_t)(int32_t)whole;
    }
}

/* Filters are stored (outer, dim, width) and are wanted one character after the other. */
static void turn_row(float *row, int64_t inner, int64_t width, float *spare) {
    for (int64_t k = 0; k < inner; k++) spare[k % width * (inner / width) + k / width] = row[k];
    memcpy(row, spare, inner * 4);
}

/* A weight (outer, inner), stored as `type` with `steps` of each row for int8, in panels for the kernels of `kind`.
 * width: 1, or that of filters. chunk: groups of factors that are added up before they join the sum. NULL if there is no
 * memory for it. */
EXPORTED Packed *pack(int kind, int type, const char *from, const float *steps, int outer, int inner, int cells,
                      int width, int chunk) {
    int is_int8 = kind == STORED_INT8 || kind == INT8, group = is_int8 ? 4 : kind == STORED_BFLOAT16 ? 2 : 1;
    int64_t groups = (inner + group - 1) / group, columns = columns_of_panels(outer, cells);
    Packed *packed = take(sizeof *packed);
    uint32_t *words = take(columns * groups * 4);
    float *own_steps = take(columns * 4), *row = take((int64_t)inner * 4), *spare = take((int64_t)inner * 4);
    if (!packed || !words || !own_steps || !row || !spare) return NULL;
    memset(words, 0, columns * groups * 4);
    memset(own_steps, 0, columns * 4);
    *packed = (Packed){words, own_steps, NULL, columns / PANEL_COLUMNS, groups, chunk};
    for (int64_t column = 0; column < columns; column++) {
        int64_t source = row_of(column, outer, cells), within = column % PANEL_COLUMNS;
        if (source < 0) continue;
        const char *stored = from + source * inner * bytes_of(type);
        uint32_t *at = words + column / PANEL_COLUMNS * groups * PANEL_COLUMNS;
        if (is_int8 && type == STORED_I8) {
            own_steps[column] = steps[source];
            put_bytes((const int8_t *)stored, inner, within, at);
            continue;
        }
        widen_row(type, stored, inner, type == STORED_I8 ? steps[source] : 1, row);
        if (width > 1) turn_row(row, inner, width, spare);
        if (is_int8) {
            own_steps[column] = step_of(row, inner);
            round_row(row, inner, own_steps[column], (int8_t *)spare);
            put_bytes((const int8_t *)spare, inner, within, at);
        } else if (kind == STORED_BFLOAT16) {
            put_pairs(row, inner, within, at);
        } else {
            put_floats(row, inner, within, at);
        }
    }
    release((char *)row);
    return packed;
}

/* A bias (outer), padded to whole panels; with `cells` in the order of the gates, `forget` added to theirs. */
EXPORTED float *pack_bias(const float *from, int outer, int cells, float forget) {
    int64_t columns = columns_of_panels(outer, cells);
    float *bias = take(columns * 4);
    for (int64_t column = 0; bias && column < columns; column++) {
        int64_t row = row_of(column, outer, cells);
        bias[column] = row < 0 ? 0.0f : from[row] + (cells && row / cells == 1 ? forget : 0.0f);
    }
    return bias;
}

/* --- a layer of one direction --- */

EXPORTED Layer *layer(const Packed *input, const Packed *recurrent, const Packed *projection, const float *bias,
                      int dim, int size, int cells, float cell_clip, float projection_clip) {
    Layer *made = take(sizeof *made);
    Packed nothing = {NULL, NULL, NULL, 0, 0, 0};
    if (made)
        *made = (Layer){*input, *recurrent, projection ? *projection : nothing, bias, dim, size, cells, cell_clip,
                        projection_clip};
    return made;
}

static int64_t *widened(const int32_t *from, int64_t count) {
    int64_t *made = take(count * 8);
    for (int64_t k = 0; made && k < count; k++) made[k] = from[k];
    return made;
}

/* Reads `tokens` tokens in `steps` steps, from zeros. alive, places, begins and ends: as in layer.h, begins may be NULL:
 * each row is a sentence. 0; or 1 if there is no memory for it. */
EXPORTED int read_layer(int kind, const Layer *of, const int32_t *alive, int steps, const int32_t *places, int tokens,
                        const int32_t *begins, const int32_t *ends, int sentences, const float *inputs, float *outputs,
                        int stride, int skips) {
    char *before = mark();
    int64_t rows = steps ? alive[0] : 0;
    Run run = {.alive = widened(alive, steps), .places = widened(places, tokens), .inputs = inputs, .outputs = outputs};
    Sentences several = {begins, ends, NULL, NULL, sentences};
    int64_t hidden = sentences * of->size * 4, cell = sentences * of->cell_size * 4;
    run.hidden = take(hidden), run.cell = take(cell), run.made = take(rows * of->cell_size * 4);
    run.steps = steps, run.input_stride = run.output_stride = stride, run.skips = skips, run.team = 1;
    run.rows = rows, run.tokens = tokens;
    int fails = !run.alive || !run.places || !run.hidden || !run.cell || !run.made;
    if (!fails) {
        memset(run.hidden, 0, hidden);
        memset(run.cell, 0, cell);
        if (begins) {
            several.hidden = run.hidden, several.cell = run.cell, run.sentences = &several;
            run.hidden = take(rows * of->size * 4);
        }
        run.work = take(elmo_fused_lstm_work_bytes(of, &run));
        fails = !run.work || !run.hidden;
    }
    if (!fails) elmo_run_layer(kind, of, &run);
    release(before);
    return fails;
}

/* --- the token encoder --- */

typedef struct {
    Encoder encoder;
    int64_t widths[64], numbers[64];
    Packed filters[64], transforms[64], gates[64];
    const float *transform_biases[64], *gate_biases[64];
} Parts; /* kernels.js refuses more */

EXPORTED Parts *encoder(const float *embedding, int alphabet, int dim, int characters, const float *filter_bias,
                        int features, int num_widths, int num_highways, int size, int squashes) {
    Parts *made = take(sizeof *made);
    if (!made) return NULL;
    memset(made, 0, sizeof *made);
    made->encoder = (Encoder){.embedding = embedding,
                              .widths = made->widths,
                              .numbers = made->numbers,
                              .filters = made->filters,
                              .filter_bias = filter_bias,
                              .transforms = made->transforms,
                              .gates = made->gates,
                              .transform_biases = made->transform_biases,
                              .gate_biases = made->gate_biases,
                              .characters = characters,
                              .dim = dim,
                              .num_widths = num_widths,
                              .features = features,
                              .num_highways = num_highways,
                              .size = size,
                              .squashes = squashes,
                              .alphabet = alphabet};
    return made;
}

EXPORTED void set_filters(Parts *parts, int index, int width, int number, const Packed *packed) {
    parts->widths[index] = width, parts->numbers[index] = number, parts->filters[index] = *packed;
}

EXPORTED void set_highway(Parts *parts, int index, const Packed *transform, const float *transform_bias,
                          const Packed *gate, const float *gate_bias) {
    parts->transforms[index] = *transform, parts->transform_biases[index] = transform_bias;
    parts->gates[index] = *gate, parts->gate_biases[index] = gate_bias;
}

EXPORTED void set_projection(Parts *parts, const Packed *packed, const float *bias) {
    parts->encoder.projection = *packed, parts->encoder.projection_bias = bias;
}

/* out (count, size) = the token vectors of ids (count, characters). 1 if there is no memory for it. */
EXPORTED int encode(int kind, const Parts *parts, const int32_t *ids, int count, float *out) {
    char *before = mark(), *work = take(elmo_encode_work_bytes(&parts->encoder));
    if (work) elmo_encode(kind, &parts->encoder, ids, count, work, out);
    release(before);
    return !work;
}

/* --- the softmax --- */

/* out (64 * panels) = row * matrix + bias. 1 if there is no memory for it. */
EXPORTED int logits(int kind, const Packed *matrix, const float *bias, const float *row, int inner, float *out) {
    char *before = mark(), *work = take(elmo_product_work_bytes(matrix));
    if (work) elmo_multiply(kind, matrix, bias, row, inner, work, out);
    release(before);
    return !work;
}
