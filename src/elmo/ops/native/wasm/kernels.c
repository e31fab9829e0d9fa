/* The kernels for WebAssembly: of each kind what a page needs, since it has to load all of it. */
#include "../processor/processor.h"
#include "../inference/kinds.h"
#include "kernels.h"

#include "wasm_vectors.h"
#include "../inference/rows.h"
#include "../inference/gates.h"
#include "int8_rows.h"

#include "../inference/kinds/float32.h"

#include "../inference/kinds/stored_bfloat16.h"

#include "stored_int8.h"

#define KIND(name) name##_int8
#define TILE_ROWS 3
#define CHUNK(matrix) SHORTER((matrix)->chunk)
#define ROW_WORDS 2
#define Sums Words
#define NO_SUMS zero_words()
#define Factor Halves
#define FACTOR(at) halves_of_factors(at)
#define Weights Halves
#define WEIGHTS(at) halves_of_weights(at)
#define DOT dot_halves
#define COLUMNS(matrix, chunk, column) ((void)(chunk), (Columns){load((matrix)->scales + (column)), zero_words()})
#define ADD_SUMS(out, found, columns, scale) add_scaled(out, found, columns, scale)
#define CONVERT int8_row_wide
#define DIRECT 0
#define UPDATE update_single
#define UPDATE_ROWS 2
#define HIGHWAY highway_single
#define TANH tanh_single
#define GROUP 4
#define FRESH(weights) ((void)0)
#include "../inference/kernel.h"

void elmo_run_layer(int kind, const Layer *layer, const Run *run) {
    if (kind == FLOAT32) run_layer_float32(layer, run);
    if (kind == STORED_INT8) run_layer_stored_int8(layer, run);
    if (kind == INT8) run_layer_int8(layer, run);
}

void elmo_encode(int kind, const Encoder *encoder, const int32_t *ids, int64_t count, char *work, float *out) {
    if (kind == FLOAT32) encode_float32(encoder, ids, count, work, out);
    if (kind == STORED_BFLOAT16) encode_stored_bfloat16(encoder, ids, count, work, out);
}

void elmo_multiply(int kind, const Packed *matrix, const float *bias, const float *row, int64_t inner, char *work,
                   float *out) {
    if (kind == FLOAT32) multiply_float32(matrix, bias, row, 1, inner, 0, matrix->panels, work, out);
    if (kind == STORED_INT8) multiply_stored_int8(matrix, bias, row, 1, inner, 0, matrix->panels, work, out);
}
