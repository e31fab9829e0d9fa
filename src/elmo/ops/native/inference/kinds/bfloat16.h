/* bfloat16 factors, two in a group, for sets with an instruction that multiplies them: KIND, CONVERT and DOT are given.
 * Gates in single precision, whose errors vanish beside those of the factors; so for all kinds but float32. */
#define TILE_ROWS 6
#define CHUNK(matrix) SHORTER((matrix)->chunk)
#define ROW_WORDS 1
#define Sums Floats
#define NO_SUMS zeros()
#define Factor Words
#define FACTOR(at) all_words(*(at))
#define Weights Words
#define WEIGHTS(at) load_words(at)
#define COLUMNS(matrix, chunk, column) ((void)(chunk), (void)(column), (Columns){zeros(), zero_words()})
#define ADD_SUMS(out, found, columns, scale) ((void)(columns), (void)(scale), add(out, found))
#define DIRECT 0
#define UPDATE update_single
#define UPDATE_ROWS 4
#define HIGHWAY highway_single
#define TANH tanh_single
#define GROUP 2
#define FRESH(weights) touch(weights)
#include "../kernel.h"
