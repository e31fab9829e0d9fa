/* Weights stored as int8, rows as they are: sums of whole numbers, exact, so that the model's float32 vectors come of a
 * quarter of float32's weights. At most 2^9 groups of 4 products of 2^14 * 2^7 are added up: they fit into 32 bits. */
#define KIND(name) name##_stored_int8
#define TILE_ROWS 2
#define CHUNK(matrix) SHORTER((matrix)->chunk)
#define ROW_WORDS 4
typedef struct {
    Words high, low;
} WideSums;
typedef struct {
    Halves high, low;
} WideFactor;
#define Sums WideSums
#define NO_SUMS ((WideSums){zero_words(), zero_words()})
#define Factor WideFactor
#define FACTOR(at) ((WideFactor){halves_of_factors(at), halves_of_factors((at) + 2)})
#define Weights Halves
#define WEIGHTS(at) halves_of_weights(at)
#define DOT(sums, factor, weights)                                                                                     \
    ((WideSums){dot_halves((sums).high, (factor).high, weights), dot_halves((sums).low, (factor).low, weights)})
#define COLUMNS(matrix, chunk, column) ((void)(chunk), (Columns){load((matrix)->scales + (column)), zero_words()})
#define ADD_SUMS(out, found, columns, scale)                                                                           \
    fma(mul(fma(floats_of((found).low), all(0x1p-15f), floats_of((found).high)), (columns).step), all(scale), out)
#define CONVERT wide_row
#define DIRECT 0
#define UPDATE update_single
#define UPDATE_ROWS 2
#define HIGHWAY highway_single
#define TANH tanh_single
#define GROUP 4
#define FRESH(weights) ((void)0)
#include "../inference/kernel.h"
