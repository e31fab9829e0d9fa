/* int8 weights and rows, four in a group: KIND, FACTOR and DOT are given. Chunks here may be shorter than those that
 * matrix->sums belongs to, so it isn't read. */
#define TILE_ROWS SIGNED_ROWS
#define CHUNK(matrix) SHORTER((matrix)->chunk)
#define ROW_WORDS 1
#define Sums Words
#define NO_SUMS zero_words()
#define Factor Words
#define Weights Words
#define WEIGHTS(at) load_words(at)
#define COLUMNS(matrix, chunk, column) ((void)(chunk), (Columns){load((matrix)->scales + (column)), zero_words()})
#define ADD_SUMS(out, found, columns, scale) add_scaled(out, found, columns, scale)
#define CONVERT int8_row_signed
#define DIRECT 0
#define UPDATE update_single
#define UPDATE_ROWS 4
#define HIGHWAY highway_single
#define TANH tanh_single
#define GROUP 4
#define FRESH(weights) touch(weights)
#include "../kernel.h"
