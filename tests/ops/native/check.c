/* The native library against plain loops in double precision, on every tier that the processor has; in odd shapes.
 * Compiled by tests/ops/native/test_other_processors.py and test_sanitizers.py. Exit code 0: all equal. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../src/elmo/ops/native/inference/layer.h"

int64_t elmo_limit_instructions(const char *name);
const char *elmo_instructions(void);
int64_t elmo_fused_kinds(void);
int64_t elmo_product_work_bytes(const Packed *matrix);
int64_t elmo_fused_lstm_work_bytes(const Layer *layer, const Run *run);
void elmo_product(int64_t kind, const Packed *matrix, const float *bias, const float *rows, int64_t count,
                  int64_t inner, int64_t first, int64_t last, char *work, float *out);
void elmo_fused_lstm(int64_t kind, const Layer *layer, const Run *run);

static int problems = 0, checks = 0;

static uint64_t state = 1;
static float chance(void) { /* between -1 and 1 */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)((int32_t)(state >> 33) - (1 << 30)) / (float)(1 << 30);
}

static void *room(size_t bytes) {
    void *made = malloc(bytes ? bytes : 1);
    if (!made) exit(3);
    return made;
}

static float *random_floats(int64_t count, float scale) {
    float *made = room(count * sizeof(float));
    for (int64_t k = 0; k < count; k++) made[k] = scale * chance();
    return made;
}

/* --- a weight in panels, as ops/product/panels.py lays it out --- */

static uint16_t bfloat16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

static Packed lay_out(int64_t kind, const float *weight, int64_t outer, int64_t inner) {
    int64_t chunk = kind == KIND_FLOAT32 ? 512 : 2048;
    Packed packed = {NULL, NULL, NULL, (outer + 63) / 64, (inner + kind - 1) / kind, chunk};
    int64_t columns = 64 * packed.panels, chunks = (packed.groups + chunk - 1) / chunk;
    uint32_t *words = room(columns * packed.groups * 4);
    float *scales = room(columns * 4);
    int32_t *sums = room(chunks * columns * 4);
    memset(words, 0, columns * packed.groups * 4);
    memset(scales, 0, columns * 4);
    memset(sums, 0, chunks * columns * 4);
    for (int64_t column = 0; column < outer; column++) {
        float largest = 0;
        for (int64_t k = 0; k < inner; k++) largest = fmaxf(largest, fabsf(weight[column * inner + k]));
        scales[column] = largest / 127.0f;
        for (int64_t k = 0; k < inner; k++) {
            float value = weight[column * inner + k];
            int64_t group = k / kind, word = ((column / 64) * packed.groups + group) * 64 + column % 64;
            char *place = (char *)&words[word] + k % kind * (4 / kind);
            uint16_t half = bfloat16(value);
            int8_t whole = (int8_t)(largest > 0 ? nearbyintf(value / scales[column]) : 0);
            if (kind == KIND_FLOAT32) memcpy(place, &value, 4);
            if (kind == KIND_BFLOAT16) memcpy(place, &half, 2);
            if (kind == KIND_INT8) memcpy(place, &whole, 1), sums[group / chunk * columns + column] += 128 * whole;
        }
    }
    packed.weights = words, packed.scales = scales, packed.sums = sums;
    return packed;
}

static void forget(Packed packed) {
    free((void *)packed.weights), free((void *)packed.scales), free((void *)packed.sums);
}

static void compare(const char *what, int64_t kind, const float *found, const double *expected, int64_t count,
                    double tolerance) {
    checks++;
    for (int64_t k = 0; k < count; k++)
        if (!(fabs(found[k] - expected[k]) <= tolerance)) {
            printf("%s, kind %d, %s: number %d is %g, not %g\n", elmo_instructions(), (int)kind, what, (int)k, found[k],
                   expected[k]);
            problems++;
            return;
        }
}

static double tolerance(int64_t kind, int64_t inner) {
    double each = kind == KIND_FLOAT32 ? 1e-6 : kind == KIND_BFLOAT16 ? 8e-3 : 2e-2;
    return each * (1 + sqrt((double)inner));
}

static void check_product(int64_t kind, int64_t count, int64_t inner, int64_t outer) {
    float *rows = random_floats(count * inner, 1), *weight = random_floats(outer * inner, 1);
    Packed packed = lay_out(kind, weight, outer, inner);
    int64_t columns = 64 * packed.panels;
    float *bias = random_floats(columns, 1), *out = random_floats(count * columns, 1),
          *alone = random_floats(columns, 1);
    double *expected = room(count * columns * sizeof(double));
    for (int64_t row = 0; row < count; row++)
        for (int64_t column = 0; column < columns; column++) {
            double sum = bias[column];
            for (int64_t k = 0; k < inner && column < outer; k++)
                sum += (double)rows[row * inner + k] * weight[column * inner + k];
            expected[row * columns + column] = sum;
        }
    char *work = room(elmo_product_work_bytes(&packed));
    elmo_product(kind, &packed, bias, rows, count, inner, 0, packed.panels, work, out);
    compare("product", kind, out, expected, count * columns, tolerance(kind, inner));
    if (count) {
        elmo_product(kind, &packed, bias, rows + (count - 1) * inner, 1, inner, 0, packed.panels, work, alone);
        checks++;
        if (memcmp(alone, out + (count - 1) * columns, columns * sizeof(float))) {
            printf("%s, kind %d: a row alone has other bits than among %d\n", elmo_instructions(), (int)kind,
                   (int)count);
            problems++;
        }
    }
    free(rows), free(weight), free(bias), free(out), free(alone), free(expected), free(work), forget(packed);
}

/* --- a layer, `lengths` from the longest on --- */

static double squash(double x) { return 1 / (1 + exp(-x)); }
static double clipped(double x, double limit) { return x > limit ? limit : x < -limit ? -limit : x; }

static void check_layer(int64_t kind, const int64_t *lengths, int64_t rows, int64_t dim, int64_t size, int64_t cells,
                        int projects, int skips) {
    int64_t steps = rows ? lengths[0] : 0, tokens = 0, panels = (cells + 15) / 16;
    float *input = random_floats(4 * cells * dim, 1 / sqrtf((float)dim));
    float *recurrent = random_floats(4 * cells * size, 1 / sqrtf((float)size));
    float *projection = random_floats(size * cells, 1 / sqrtf((float)cells)), *bias = random_floats(4 * cells, 1);
    int64_t *alive = room(steps * sizeof *alive);
    for (int64_t t = 0; t < steps; t++) {
        alive[t] = 0;
        for (int64_t row = 0; row < rows; row++) alive[t] += lengths[row] > t;
        tokens += alive[t];
    }
    int64_t *places = room(tokens * sizeof *places);
    for (int64_t k = 0; k < tokens; k++) places[k] = tokens - 1 - k;
    float *inputs = random_floats(tokens * dim, 1), *outputs = random_floats(tokens * size, 1);
    float *hidden = random_floats(rows * size, 1), *cell = random_floats(rows * cells, 1);
    double *expected = room(tokens * size * sizeof(double)), *h = room(rows * size * sizeof(double));
    double *c = room(rows * cells * sizeof(double)), *made = room(cells * sizeof(double));
    for (int64_t k = 0; k < rows * size; k++) h[k] = hidden[k];
    for (int64_t k = 0; k < rows * cells; k++) c[k] = cell[k];
    const double cell_clip = 3, projection_clip = 0.5;
    for (int64_t t = 0, done = 0; t < steps; done += alive[t], t++)
        for (int64_t row = 0; row < alive[t]; row++) {
            int64_t place = places[done + row];
            for (int64_t n = 0; n < cells; n++) {
                double gate[4];
                for (int g = 0; g < 4; g++) {
                    gate[g] = bias[g * cells + n];
                    for (int64_t k = 0; k < dim; k++)
                        gate[g] += (double)input[(g * cells + n) * dim + k] * inputs[place * dim + k];
                    for (int64_t k = 0; k < size; k++)
                        gate[g] += (double)recurrent[(g * cells + n) * size + k] * h[row * size + k];
                }
                double now = squash(gate[1]) * c[row * cells + n] + squash(gate[0]) * tanh(gate[3]);
                c[row * cells + n] = clipped(now, cell_clip);
                made[n] = squash(gate[2]) * tanh(c[row * cells + n]);
            }
            for (int64_t n = 0; n < size; n++) {
                double sum = projects ? 0 : made[n];
                for (int64_t k = 0; k < cells && projects; k++) sum += (double)projection[n * cells + k] * made[k];
                h[row * size + n] = projects ? clipped(sum, projection_clip) : sum;
                expected[place * size + n] = h[row * size + n] + (skips ? inputs[place * dim + n] : 0);
            }
        }
    float *panel_bias = room(panels * 64 * 4), *panel_input = room(panels * 64 * dim * 4);
    float *panel_recurrent = room(panels * 64 * size * 4);
    memset(panel_bias, 0, panels * 64 * 4);
    memset(panel_input, 0, panels * 64 * dim * 4);
    memset(panel_recurrent, 0, panels * 64 * size * 4);
    for (int g = 0; g < 4; g++)
        for (int64_t n = 0; n < cells; n++) {
            int64_t from = g * cells + n, to = n / 16 * 64 + 16 * g + n % 16;
            panel_bias[to] = bias[from];
            memcpy(panel_input + to * dim, input + from * dim, dim * 4);
            memcpy(panel_recurrent + to * size, recurrent + from * size, size * 4);
        }
    Packed nothing = {NULL, NULL, NULL, 0, 0, 0};
    Layer layer = {lay_out(kind, panel_input, 64 * panels, dim),
                   lay_out(kind, panel_recurrent, 64 * panels, size),
                   projects ? lay_out(kind, projection, size, cells) : nothing,
                   panel_bias,
                   dim,
                   size,
                   cells,
                   (float)cell_clip,
                   (float)projection_clip};
    int32_t arrivals[16] = {0};
    float *shared = room(rows * cells * 4);
    Run run = {alive, places, inputs, outputs, hidden, cell, shared, NULL, arrivals, steps, dim, size, skips, 0, 1};
    run.work = room(elmo_fused_lstm_work_bytes(&layer, &run));
    elmo_fused_lstm(kind, &layer, &run);
    double loose = kind == KIND_FLOAT32 ? 2e-5 : kind == KIND_BFLOAT16 ? 5e-2 : 1e-1;
    compare("layer", kind, outputs, expected, tokens * size, loose);
    compare("hidden", kind, hidden, h, rows * size, loose);
    compare("cell", kind, cell, c, rows * cells, loose);
    forget(layer.input), forget(layer.recurrent), forget(layer.projection);
    free(input), free(recurrent), free(projection), free(bias), free(alive), free(places), free(inputs), free(outputs);
    free(hidden), free(cell), free(expected), free(h), free(c), free(made), free(panel_bias), free(panel_input);
    free(panel_recurrent), free(shared), free(run.work);
}

int main(void) {
    static const char *const tiers[] = {"all", "avx512base", "avxvnni", "avx2", "neondot", "neon", "none"};
    static int64_t many[70], lengths[] = {6, 6, 2, 1, 1, 0, 0}, one[] = {1}, none[] = {0, 0}, long_one[] = {10000};
    for (int64_t k = 0; k < 70; k++) many[k] = k == 0 ? 4 : 2;
    for (unsigned k = 0; k < sizeof tiers / sizeof *tiers; k++) {
        elmo_limit_instructions(tiers[k]);
        printf("%s: %s, kinds %d\n", tiers[k], elmo_instructions(), (int)elmo_fused_kinds());
        for (int64_t kind = 1; kind <= 4; kind *= 2) {
            if (!(elmo_fused_kinds() & kind)) continue;
            static const int64_t counts[] = {0, 1, 2, 5, 6, 7, 61}, inners[] = {1, 3, 16, 33, 130, 1100};
            for (int a = 0; a < 7; a++)
                for (int b = 0; b < 6; b++) check_product(kind, counts[a], inners[b], b % 2 ? 64 : 65);
            check_layer(kind, lengths, 7, 3, 3, 1, 1, 0), check_layer(kind, lengths, 7, 1, 1, 1, 0, 0);
            check_layer(kind, lengths, 7, 5, 4, 7, 1, 0), check_layer(kind, lengths, 7, 40, 40, 40, 0, 1);
            check_layer(kind, many, 70, 33, 17, 100, 1, 0), check_layer(kind, many, 13, 66, 66, 70, 1, 1);
            check_layer(kind, NULL, 0, 4, 4, 8, 1, 0), check_layer(kind, none, 2, 4, 4, 8, 1, 0);
            check_layer(kind, one, 1, 3, 3, 8, 1, 1), check_layer(kind, long_one, 1, 3, 3, 5, 1, 0);
        }
    }
    printf("%d checks, %d problems\n", checks, problems);
    return problems ? 1 : 0;
}
