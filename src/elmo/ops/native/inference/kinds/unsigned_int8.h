/* int8 weights and rows of 0 to 255 with 128 for 0, four in a group: KIND, CONVERT and DOT are given. */
#define TILE_ROWS 6
#define CHUNK(matrix) (matrix)->chunk
#define ROW_WORDS 1
#define Sums Words
#define NO_SUMS zero_words()
#define Factor Words
#define FACTOR(at) all_words(*(at))
#define Weights Words
#define WEIGHTS(at) load_words(at)
#define COLUMNS(matrix, chunk, column) columns_of(matrix, chunk, column)
#define ADD_SUMS(out, found, columns, scale) add_scaled(out, sub_words(found, (columns).excess), columns, scale)
#define DIRECT 0
#define UPDATE update_single
#define UPDATE_ROWS 4
#define HIGHWAY highway_single
#define TANH tanh_single
#define GROUP 4
#define FRESH(weights) touch(weights)
#include "../kernel.h"
