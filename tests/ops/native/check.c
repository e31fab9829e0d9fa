/* The native library against plain loops in double precision, on every tier that the processor has; in odd shapes.
 * Compiled by tests/ops/native/test_other_processors.py and .ci/wheels. Exit code 0: all equal. The last line has a hash
 * of all that was computed: libraries of one compiler for two systems must agree in every bit. */
#include <math.h>
#include <pthread.h>
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
int64_t elmo_product(int64_t kind, const Packed *matrix, const float *bias, const float *rows, int64_t count,
                     int64_t inner, int64_t first, int64_t last, char *work, float *out);
int64_t elmo_fused_lstm(int64_t kind, const Layer *layer, const Run *run);
int64_t elmo_encode_work_bytes(const Encoder *encoder);
int64_t elmo_encode_tokens(int64_t kind, const Encoder *encoder, const int32_t *ids, int64_t count, char *work,
                           float *out);

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

static uint64_t hash = 14695981039346656037u; /* FNV-1a */
static void remember(const float *found, int64_t count) {
    const unsigned char *bytes = (const unsigned char *)found;
    for (int64_t k = 0; k < count * (int64_t)sizeof(float); k++) hash = (hash ^ bytes[k]) * 1099511628211u;
}

static void compare(const char *what, int64_t kind, const float *found, const double *expected, int64_t count,
                    double tolerance) {
    checks++;
    remember(found, count);
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

static float *copy_of(const float *values, int64_t count) {
    float *made = room(count * sizeof(float));
    memcpy(made, values, count * sizeof(float));
    return made;
}

static void same_bits(const char *what, int64_t kind, const float *one, const float *other, int64_t count) {
    checks++;
    remember(one, count);
    if (memcmp(one, other, count * sizeof(float))) {
        printf("%s, kind %d: %s have other bits\n", elmo_instructions(), (int)kind, what);
        problems++;
    }
}

enum { MOST_THREADS = 3 };

typedef struct {
    int64_t kind;
    const Layer *layer;
    Run run;
} Member;

static void *run_member(void *given) {
    Member *member = given;
    member->run.work = room(elmo_fused_lstm_work_bytes(member->layer, &member->run));
    if (elmo_fused_lstm(member->kind, member->layer, &member->run)) problems++;
    free(member->run.work);
    return NULL;
}

/* The layer, its columns shared by `team` threads. */
static void run_team(int64_t kind, const Layer *layer, Run run, int team) {
    int64_t rows = run.steps ? run.alive[0] : 0;
    pthread_t threads[MOST_THREADS];
    Member members[MOST_THREADS];
    run.made = room(rows * layer->cell_size * sizeof(float));
    run.arrivals = calloc(16 * team, sizeof(int32_t));
    run.team = team;
    for (int rank = 0; rank < team; rank++) {
        members[rank] = (Member){kind, layer, run};
        members[rank].run.rank = rank;
        if (rank && pthread_create(&threads[rank], NULL, run_member, &members[rank])) exit(3);
    }
    run_member(&members[0]);
    for (int rank = 1; rank < team; rank++) pthread_join(threads[rank], NULL);
    free(run.made), free(run.arrivals);
}

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
    float *first_hidden = copy_of(hidden, rows * size), *first_cell = copy_of(cell, rows * cells);
    Run run = {alive, places, inputs, outputs, hidden, cell, NULL, NULL,   NULL,  steps,
               dim,   size,   skips,  0,       1,      NULL, rows, tokens, tokens};
    run_team(kind, &layer, run, 1);
    double loose = kind == KIND_FLOAT32 ? 2e-5 : kind == KIND_BFLOAT16 ? 5e-2 : 1e-1;
    compare("layer", kind, outputs, expected, tokens * size, loose);
    compare("hidden", kind, hidden, h, rows * size, loose);
    compare("cell", kind, cell, c, rows * cells, loose);
    float *other = random_floats(tokens * size, 1);
    for (int team = 2; team <= MOST_THREADS && rows && tokens < 1000; team++) {
        float *own_hidden = copy_of(first_hidden, rows * size), *own_cell = copy_of(first_cell, rows * cells);
        Run shared = run;
        shared.hidden = own_hidden, shared.cell = own_cell, shared.outputs = other;
        run_team(kind, &layer, shared, team);
        same_bits("outputs of a team", kind, outputs, other, tokens * size);
        same_bits("hidden of a team", kind, hidden, own_hidden, rows * size);
        same_bits("cell of a team", kind, cell, own_cell, rows * cells);
        free(own_hidden), free(own_cell);
    }
    free(first_hidden), free(first_cell), free(other);
    forget(layer.input), forget(layer.recurrent), forget(layer.projection);
    free(input), free(recurrent), free(projection), free(bias), free(alive), free(places), free(inputs), free(outputs);
    free(hidden), free(cell), free(expected), free(h), free(c), free(made), free(panel_bias), free(panel_input);
    free(panel_recurrent);
}

/* --- rows that read several sentences in turn: each has the bits that it has alone --- */

static void check_turns(int64_t kind, int64_t size, int projects) {
    enum { SENTENCES = 5, ROWS = 2, TOKENS = 13, STEPS = 7, CELLS = 32 };
    static const int64_t lengths[SENTENCES] = {5, 3, 2, 1, 2}, starts[SENTENCES] = {0, 5, 8, 10, 11};
    static const int order[ROWS][3] = {{0, 4, -1}, {1, 2, 3}}; /* 7 and 6 tokens */
    int64_t alive[STEPS] = {2, 2, 2, 2, 2, 2, 1}, places[TOKENS], next[ROWS] = {0, 0}, within[ROWS] = {0, 0};
    int32_t begins[TOKENS], ends[TOKENS];
    for (int64_t step = 0, done = 0; step < STEPS; step++)
        for (int64_t row = 0; row < alive[step]; row++, done++) {
            int sentence = order[row][next[row]];
            places[done] = starts[sentence] + within[row];
            begins[done] = within[row] == 0 ? sentence : -1;
            within[row]++;
            ends[done] = within[row] == lengths[sentence] ? sentence : -1;
            if (ends[done] >= 0) next[row]++, within[row] = 0;
        }
    int64_t cells = projects ? CELLS : size, panels = (cells + 15) / 16;
    float *input = random_floats(64 * panels * size, 0.3f), *recurrent = random_floats(64 * panels * size, 0.3f);
    float *projection = random_floats(size * cells, 0.3f), *bias = random_floats(64 * panels, 1);
    Packed nothing = {NULL, NULL, NULL, 0, 0, 0};
    Layer layer = {lay_out(kind, input, 64 * panels, size),
                   lay_out(kind, recurrent, 64 * panels, size),
                   projects ? lay_out(kind, projection, size, cells) : nothing,
                   bias,
                   size,
                   size,
                   cells,
                   3,
                   INFINITY};
    float *inputs = random_floats(TOKENS * size, 1), *outputs = random_floats(TOKENS * size, 1);
    float *hidden = random_floats(SENTENCES * size, 1), *cell = random_floats(SENTENCES * cells, 1);
    float *alone = random_floats(TOKENS * size, 1);
    float *alone_hidden = copy_of(hidden, SENTENCES * size), *alone_cell = copy_of(cell, SENTENCES * cells);
    for (int64_t sentence = 0; sentence < SENTENCES; sentence++) {
        int64_t ones[STEPS] = {1, 1, 1, 1, 1, 1, 1}, own[STEPS];
        for (int64_t k = 0; k < lengths[sentence]; k++) own[k] = starts[sentence] + k;
        Run run = {ones,
                   own,
                   inputs,
                   alone,
                   alone_hidden + sentence * size,
                   alone_cell + sentence * cells,
                   NULL,
                   NULL,
                   NULL,
                   lengths[sentence],
                   size,
                   size,
                   1,
                   0,
                   1,
                   NULL,
                   1,
                   lengths[sentence],
                   TOKENS};
        run_team(kind, &layer, run, 1);
    }
    for (int team = 1; team <= MOST_THREADS; team++) {
        float *own_hidden = copy_of(hidden, SENTENCES * size), *own_cell = copy_of(cell, SENTENCES * cells);
        float *rows = random_floats(ROWS * size, 1);
        Sentences sentences = {begins, ends, own_hidden, own_cell, SENTENCES};
        Run run = {alive, places, inputs, outputs, rows, own_cell, NULL, NULL,
                   NULL,  STEPS,  size,   size,    1,    0,        1,    &sentences,
                   ROWS,  TOKENS, TOKENS};
        run_team(kind, &layer, run, team);
        same_bits("outputs in turn", kind, outputs, alone, TOKENS * size);
        same_bits("hidden in turn", kind, own_hidden, alone_hidden, SENTENCES * size);
        same_bits("cells in turn", kind, own_cell, alone_cell, SENTENCES * cells);
        free(own_hidden), free(own_cell), free(rows);
    }
    forget(layer.input), forget(layer.recurrent), forget(layer.projection);
    free(input), free(recurrent), free(projection), free(bias), free(inputs), free(outputs), free(hidden), free(cell);
    free(alone), free(alone_hidden), free(alone_cell);
}

/* --- the token encoder --- */

typedef struct {
    int64_t count, characters, dim, num_widths, num_highways, size; /* size 0: no projection */
    int64_t squashes, widths[3], numbers[3];
} Shape;

enum { ALPHABET = 30, PADDING = 29 };

/* y (outer) = weight (outer, inner) x (inner) + bias */
static void product_of(const float *weight, const float *bias, const double *x, int64_t outer, int64_t inner,
                       double *y) {
    for (int64_t n = 0; n < outer; n++) {
        y[n] = bias[n];
        for (int64_t k = 0; k < inner; k++) y[n] += (double)weight[n * inner + k] * x[k];
    }
}

static float *padded_bias(int64_t outer) {
    float *made = room((outer + 63) / 64 * 64 * sizeof(float));
    for (int64_t n = 0; n < (outer + 63) / 64 * 64; n++) made[n] = n < outer ? chance() : 0;
    return made;
}

static Packed encoder_weight(int64_t kind, const float *weight, int64_t outer, int64_t inner) {
    Packed packed = lay_out(kind, weight, outer, inner);
    if (kind == KIND_FLOAT32) packed.chunk = 32; /* as engine/native/characters.py has it */
    return packed;
}

static void check_encoder(int64_t kind, Shape shape) {
    int64_t characters = shape.characters, dim = shape.dim, features = 0, highways = shape.num_highways;
    for (int64_t width = 0; width < shape.num_widths; width++) features += shape.numbers[width];
    int64_t size = shape.size ? shape.size : features;
    float *embedding = random_floats(ALPHABET * dim, 1), *filter_bias = random_floats(features, 1);
    float *weights[3], *matrices[4], *biases[4], *projection = NULL, *projection_bias = NULL;
    Packed filters[3], transforms[2], gates[2], nothing = {NULL, NULL, NULL, 0, 0, 0};
    for (int64_t width = 0; width < shape.num_widths; width++) {
        int64_t inner = shape.widths[width] * dim;
        weights[width] = random_floats(shape.numbers[width] * inner, 1 / sqrtf((float)inner));
        filters[width] = encoder_weight(kind, weights[width], shape.numbers[width], inner);
    }
    for (int64_t k = 0; k < 2 * highways; k++) {
        matrices[k] = random_floats(features * features, 1 / sqrtf((float)features));
        biases[k] = padded_bias(features);
        (k % 2 ? gates : transforms)[k / 2] = encoder_weight(kind, matrices[k], features, features);
    }
    const float *transform_biases[] = {biases[0], biases[2]}, *gate_biases[] = {biases[1], biases[3]};
    if (shape.size) {
        projection = random_floats(size * features, 1 / sqrtf((float)features));
        projection_bias = padded_bias(size);
    }
    Encoder encoder = {embedding,
                       shape.widths,
                       shape.numbers,
                       filters,
                       filter_bias,
                       transforms,
                       gates,
                       transform_biases,
                       gate_biases,
                       shape.size ? encoder_weight(kind, projection, size, features) : nothing,
                       projection_bias,
                       characters,
                       dim,
                       shape.num_widths,
                       features,
                       highways,
                       size,
                       shape.squashes,
                       ALPHABET};
    int32_t *ids = room(shape.count * characters * sizeof *ids);
    for (int64_t token = 0; token < shape.count; token++) { /* one byte, all places, none, then any number of bytes */
        int64_t some = (int64_t)((chance() + 1) / 2 * (float)characters);
        int64_t length = token == 0 ? 1 : token == 1 ? characters : token == 2 ? 0 : some;
        for (int64_t k = 0; k < characters; k++)
            ids[token * characters + k] = k < length ? (int32_t)((chance() + 1) / 2 * (PADDING - 1)) : PADDING;
    }
    double *x = room(features * sizeof(double)), *made = room(features * sizeof(double));
    double *gate = room(features * sizeof(double)), *expected = room(shape.count * size * sizeof(double));
    for (int64_t token = 0; token < shape.count; token++) {
        for (int64_t width = 0, first = 0; width < shape.num_widths; first += shape.numbers[width], width++) {
            int64_t inner = shape.widths[width] * dim;
            for (int64_t n = 0; n < shape.numbers[width]; n++) {
                double best = -INFINITY;
                for (int64_t at = 0; at + shape.widths[width] <= characters; at++) {
                    double sum = 0;
                    for (int64_t k = 0; k < inner; k++)
                        sum += (double)embedding[ids[token * characters + at + k / dim] * dim + k % dim] *
                               weights[width][n * inner + k];
                    best = fmax(best, sum);
                }
                best += filter_bias[first + n];
                x[first + n] = shape.squashes ? tanh(best) : fmax(best, 0);
            }
        }
        for (int64_t k = 0; k < highways; k++) {
            product_of(matrices[2 * k], biases[2 * k], x, features, features, made);
            product_of(matrices[2 * k + 1], biases[2 * k + 1], x, features, features, gate);
            for (int64_t n = 0; n < features; n++)
                x[n] = squash(gate[n]) * fmax(made[n], 0) + (1 - squash(gate[n])) * x[n];
        }
        if (shape.size)
            product_of(projection, projection_bias, x, size, features, expected + token * size);
        else
            memcpy(expected + token * size, x, size * sizeof(double));
    }
    float *out = random_floats(shape.count * size, 1), *alone = random_floats(size, 1);
    char *work = room(elmo_encode_work_bytes(&encoder));
    if (elmo_encode_tokens(kind, &encoder, ids, shape.count, work, out)) problems++;
    compare("token vectors", kind, out, expected, shape.count * size, kind == KIND_FLOAT32 ? 2e-5 : 1e-1);
    for (int64_t token = 0; token < shape.count; token += 1 + shape.count / 5) {
        elmo_encode_tokens(kind, &encoder, ids + token * characters, 1, work, alone);
        same_bits("tokens encoded alone", kind, alone, out + token * size, size);
    }
    for (int64_t width = 0; width < shape.num_widths; width++) free(weights[width]), forget(filters[width]);
    for (int64_t k = 0; k < 2 * highways; k++)
        free(matrices[k]), free(biases[k]), forget((k % 2 ? gates : transforms)[k / 2]);
    forget(encoder.projection), free(projection), free(projection_bias), free(embedding), free(filter_bias), free(ids);
    free(x), free(made), free(gate), free(expected), free(out), free(alone), free(work);
}

static void check_encoders(int64_t kind) {
    static const Shape shapes[] = {
        {7, 50, 16, 3, 2, 9, 0, {1, 2, 7}, {32, 70, 3}}, /* as published, with a part of a panel */
        {61, 50, 6, 2, 1, 65, 1, {1, 5}, {3, 67}},       /* tanh; more tokens than are encoded together */
        {5, 50, 2, 1, 0, 64, 0, {3}, {20}},              /* no highway layer, filters of one width */
        {5, 50, 4, 1, 0, 0, 0, {50}, {64}},              /* filters as wide as a token, no projection */
        {4, 1, 2, 1, 1, 1, 1, {1}, {1}},                 /* one character, one filter, one dimension */
        {0, 50, 4, 2, 2, 8, 0, {1, 3}, {5, 6}},          /* no token */
        {1, 7, 4, 3, 2, 3, 0, {1, 2, 3}, {16, 16, 32}},  /* one token, three dimensions */
        {10000, 6, 2, 2, 1, 3, 0, {1, 2}, {2, 3}},       /* many tokens */
        {9, 50, 3, 2, 1, 5, 0, {1, 4}, {9, 17}},         /* characters of three dimensions: float32 alone */
        {3, 5, 1, 1, 1, 0, 1, {2}, {129}},               /* of one dimension, features without a projection */
    };
    for (unsigned k = 0; k < sizeof shapes / sizeof *shapes; k++)
        if (kind == KIND_FLOAT32 || shapes[k].dim % 2 == 0) check_encoder(kind, shapes[k]);
}

/* --- the passes of training, whose values tests/ops compares with torch: here for the hash alone --- */

#define OF_BOTH_FACTORS(name, ...) int64_t name##_f32(__VA_ARGS__), name##_bf16(__VA_ARGS__)
OF_BOTH_FACTORS(elmo_gates_forward, int64_t rows, int64_t size, float clip, void *share, void *recurrent, float *bias,
                float *before, float *gates, float *after, float *squashed, void *output);
OF_BOTH_FACTORS(elmo_gates_backward, int64_t rows, int64_t size, float clip, float *gates, float *before, float *after,
                float *squashed, void *grad_output, float *grad_cell, void *grad_gates, float *grad_bias);
OF_BOTH_FACTORS(elmo_sampled_softmax, int64_t rows, int64_t negatives, float scale, void *logits, float *shift,
                int64_t *hit, float *target, float *nats, float *grad_shift, float *scratch);
int64_t elmo_max_over_positions(int64_t types, int64_t positions, int64_t filters, float *scores, float *best,
                                int32_t *place);
int64_t elmo_max_over_positions_backward(int64_t types, int64_t row_size, int64_t dim, int64_t span, int64_t filters,
                                         float *vectors, float *kernel, int32_t *place, float *grad,
                                         float *grad_vectors, float *grad_kernel);

enum { ROWS = 5, SIZE = 37, POSITIONS = 9, SPAN = 12, DIM = 4 };

static void run_passes(int is_bfloat16) {
    int64_t count = ROWS * SIZE;
    float *values[12];
    uint16_t *halves[4];
    for (int k = 0; k < 12; k++) values[k] = random_floats(6 * count, 1.5f);
    for (int k = 0; k < 4; k++) {
        halves[k] = room(4 * count * sizeof(uint16_t));
        for (int64_t i = 0; i < 4 * count; i++) halves[k][i] = bfloat16(chance());
    }
    int64_t hits[ROWS] = {3, -1, 0, SIZE - 1, -1};
    void *recurrent = is_bfloat16 ? (void *)halves[0] : values[1];
    void *output = is_bfloat16 ? (void *)halves[1] : values[5];
    float nats[ROWS]; /* not compared: the logarithm is the system's own */
    void *factors = is_bfloat16 ? (void *)halves[2] : values[9];
    void *share = is_bfloat16 ? (void *)halves[3] : values[11];
    (is_bfloat16 ? elmo_gates_forward_bf16 : elmo_gates_forward_f32)(
        ROWS, SIZE, 1.0f, share, recurrent, values[10], values[2], values[0], values[3], values[4], output);
    (is_bfloat16 ? elmo_gates_backward_bf16 : elmo_gates_backward_f32)(ROWS, SIZE, 1.0f, values[0], values[2], values[3],
                                                                       values[4], output, values[6], factors, values[7]);
    float *sums = values[9] + 4 * count;
    (is_bfloat16 ? elmo_sampled_softmax_bf16 : elmo_sampled_softmax_f32)(ROWS, SIZE, 0.2f, recurrent, values[8], hits,
                                                                         values[10], nats, sums, sums + SIZE);
    if (!is_bfloat16) {
        int32_t places[ROWS * SIZE];
        int64_t filters = count / ROWS / 2, row_size = DIM * (POSITIONS - 1) + SPAN;
        elmo_max_over_positions(ROWS, POSITIONS, filters, values[1], values[2], places);
        elmo_max_over_positions_backward(ROWS, row_size, DIM, SPAN, filters, values[5], values[6], places, values[3],
                                         values[7], values[4]);
    }
    for (int k = 0; k < 12; k++) remember(values[k], 6 * count), free(values[k]);
    for (int k = 0; k < 4; k++) remember((float *)halves[k], 2 * count), free(halves[k]);
}

int main(void) {
    static const char *const tiers[] = {"all", "avx512", "avx512base", "avxvnni", "avx2", "neondot", "neon", "none"};
    static int64_t many[70], lengths[] = {6, 6, 2, 1, 1, 0, 0}, one[] = {1}, none[] = {0, 0}, long_one[] = {10000};
    for (int64_t k = 0; k < 70; k++) many[k] = k == 0 ? 4 : 2;
    for (unsigned k = 0; k < sizeof tiers / sizeof *tiers; k++) {
        elmo_limit_instructions(tiers[k]);
        printf("%s: %s, kinds %d\n", tiers[k], elmo_instructions(), (int)elmo_fused_kinds());
        run_passes(0), run_passes(1);
        for (int64_t kind = 1; kind <= 4; kind *= 2) {
            if (!(elmo_fused_kinds() & kind)) continue;
            static const int64_t counts[] = {0, 1, 2, 5, 6, 7, 16, 33, 61}, inners[] = {1, 3, 16, 33, 64, 130, 640, 1100};
            for (int a = 0; a < 9; a++)
                for (int b = 0; b < 8; b++) check_product(kind, counts[a], inners[b], b % 2 ? 64 : 65);
            check_layer(kind, lengths, 7, 3, 3, 1, 1, 0), check_layer(kind, lengths, 7, 1, 1, 1, 0, 0);
            check_layer(kind, lengths, 7, 5, 4, 7, 1, 0), check_layer(kind, lengths, 7, 40, 40, 40, 0, 1);
            check_layer(kind, many, 70, 33, 17, 100, 1, 0), check_layer(kind, many, 13, 66, 66, 70, 1, 1);
            check_layer(kind, NULL, 0, 4, 4, 8, 1, 0), check_layer(kind, none, 2, 4, 4, 8, 1, 0);
            check_layer(kind, one, 1, 3, 3, 8, 1, 1), check_layer(kind, long_one, 1, 3, 3, 5, 1, 0);
            check_turns(kind, 32, 0), check_turns(kind, 5, 1), check_turns(kind, 70, 1);
            if (kind != KIND_INT8) check_encoders(kind); /* for int8 the engine takes bfloat16 here */
        }
    }
    printf("%d checks, %d problems\nhash %08x%08x\n", checks, problems, (unsigned)(hash >> 32), (unsigned)hash);
    return problems ? 1 : 0;
}
