/* Weights stored as bfloat16, two in a group, for sets without an instruction that multiplies them: half as much to
 * read as float32, multiplied as float32 with the rows as they are. */
#ifndef ELMO_PAIRS_ONCE
#define ELMO_PAIRS_ONCE
typedef struct {
    Floats even, odd;
} Pair;
INLINE Pair pair_of_weights(Words words) { return (Pair){as_floats(lower_half(words)), as_floats(upper_half(words))}; }
INLINE Pair pair_of_factors(const uint32_t *at) {
    return (Pair){as_floats(all_words(at[0])), as_floats(all_words(at[1]))};
}
#endif
#define KIND(name) name##_stored_bfloat16
#define TILE_ROWS PAIR_ROWS
#define CHUNK(matrix) SHORTER((matrix)->chunk)
#define ROW_WORDS 2
#define Sums Floats
#define NO_SUMS zeros()
#define Factor Pair
#define FACTOR(at) pair_of_factors(at)
#define Weights Pair
#define WEIGHTS(at) pair_of_weights(load_words(at))
#define DOT(sums, factor, weights) fma((factor).odd, (weights).odd, fma((factor).even, (weights).even, sums))
#define COLUMNS(matrix, chunk, column) ((void)(chunk), (void)(column), (Columns){zeros(), zero_words()})
#define ADD_SUMS(out, found, columns, scale) ((void)(columns), (void)(scale), add(out, found))
#define CONVERT keep_pairs
#define DIRECT 0
#define UPDATE update_single
#define UPDATE_ROWS 4
#define HIGHWAY highway_single
#define TANH tanh_single
#define GROUP 2
#define FRESH(weights) ((void)0)
#include "../kernel.h"
