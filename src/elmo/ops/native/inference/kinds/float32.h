/* float32 factors, one in a group; gates in double precision. */
#define KIND(name) name##_float32
#define TILE_ROWS 6
#define CHUNK(matrix) SHORTER((matrix)->chunk)
#define ROW_WORDS 1
#define Sums Floats
#define NO_SUMS zeros()
#define Factor Floats
#define FACTOR(at) as_floats(all_words(*(at)))
#define Weights Floats
#define WEIGHTS(at) as_floats(load_words(at))
#define DOT(sums, factor, weights) fma(factor, weights, sums)
#define COLUMNS(matrix, chunk, column) ((void)(chunk), (void)(column), (Columns){zeros(), zero_words()})
#define ADD_SUMS(out, found, columns, scale) ((void)(columns), (void)(scale), add(out, found))
#define CONVERT keep_row
#define DIRECT 1
#define UPDATE update_exactly
#define UPDATE_ROWS 3
#define HIGHWAY highway_exactly
#define TANH tanh_exactly
#define GROUP 1
#define FRESH(weights) touch(weights)
#include "../kernel.h"
