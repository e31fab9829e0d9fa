/* The exported products and layers: each call goes to the best kernels that the processor has. */
#include "../processor/processor.h"
#include "kinds.h"

#include <stddef.h>

const Kernels *elmo_kernels(int64_t kind) {
    int64_t features = elmo_features();
    (void)features, (void)kind;
#if ON_X86 && !defined(NO_AVX512)
    if (features & HAS_AVX512) {
        if (kind == KIND_FLOAT32) return elmo_avx512_float32;
#if WITH_AMX
        if (features & HAS_AMX) return kind == KIND_BFLOAT16 ? elmo_amx_bfloat16 : elmo_amx_int8;
#endif
        if (kind == KIND_BFLOAT16)
            return features & HAS_AVX512_BF16 ? elmo_avx512_bfloat16 : elmo_avx512_stored_bfloat16;
        return features & HAS_AVX512_VNNI ? elmo_avx512_int8_vnni : elmo_avx512_int8;
    }
    if (kind == KIND_INT8 && features & HAS_AVX_VNNI) return elmo_avx2_int8_vnni;
#endif
#if ON_X86
    if (features & HAS_AVX2)
        return kind == KIND_FLOAT32    ? elmo_avx2_float32
               : kind == KIND_BFLOAT16 ? elmo_avx2_stored_bfloat16
                                       : elmo_avx2_int8;
#endif
#if ON_ARM
    if (features & HAS_NEON) {
        if (kind == KIND_FLOAT32) return elmo_neon_float32;
        if (kind == KIND_BFLOAT16) return features & HAS_NEON_BF16 ? elmo_neon_bfloat16 : elmo_neon_stored_bfloat16;
        return features & HAS_NEON_DOT ? elmo_neon_int8_dot : elmo_neon_int8;
    }
#endif
    return NULL;
}

/* The kinds of factors for which there are kernels here, added up: 1 float32, 2 bfloat16, 4 int8. */
EXPORTED int64_t elmo_fused_kinds(void) {
    return elmo_kernels(KIND_FLOAT32) ? KIND_FLOAT32 | KIND_BFLOAT16 | KIND_INT8 : 0;
}

/* Whatever takes numbers that say where to read or write looks at them first, so that none leads out of the arrays:
 * 0 if all is well; NO_KERNELS; or which argument is wrong, counted as structures.py does. */
enum { NO_KERNELS = -1 };

/* out (count, 64 * panels) = rows (count, inner) * matrix + bias (NULL: none), the panels [first, last) of it. */
EXPORTED int64_t elmo_product(int64_t kind, const Packed *matrix, const float *bias, const float *rows, int64_t count,
                              int64_t inner, int64_t first, int64_t last, char *work, float *out) {
    const Kernels *kernels = elmo_kernels(kind);
    if (!kernels) return NO_KERNELS;
    kernels->multiply(matrix, bias, rows, count, inner, first, last, work, out);
    return 0;
}

/* Whether every value is below `limit` and none below `least`. */
static int all_within(const int32_t *values, int64_t count, int64_t least, int64_t limit) {
    int wrong = 0;
    for (int64_t k = 0; k < count; k++) wrong |= values[k] < least || values[k] >= limit;
    return !wrong;
}

enum { WRONG_ALIVE = 1, WRONG_PLACES, WRONG_BEGINS, WRONG_ENDS };

/* Every thread of a team finds the same, so none waits for another that has gone. */
static int64_t wrong_in(const Run *run) {
    const Sentences *sentences = run->sentences;
    int64_t most = run->rows, tokens = 0;
    int wrong = 0;
    for (int64_t step = 0; step < run->steps; most = run->alive[step++]) {
        if (run->alive[step] < 0 || run->alive[step] > most) return WRONG_ALIVE;
        tokens += run->alive[step];
    }
    if (tokens != run->tokens) return WRONG_ALIVE;
    for (int64_t k = 0; k < tokens; k++) wrong |= run->places[k] < 0 || run->places[k] >= run->positions;
    if (wrong) return WRONG_PLACES;
    if (sentences && run->steps && !all_within(sentences->begins, run->alive[0], 0, sentences->count))
        return WRONG_BEGINS; /* a row without a sentence has no state */
    if (sentences && !all_within(sentences->begins, tokens, -1, sentences->count)) return WRONG_BEGINS;
    if (sentences && !all_within(sentences->ends, tokens, -1, sentences->count)) return WRONG_ENDS;
    return 0;
}

/* kind: 1, 2 or 4, as in elmo_fused_kinds. */
EXPORTED int64_t elmo_fused_lstm(int64_t kind, const Layer *layer, const Run *run) {
    const Kernels *kernels = elmo_kernels(kind);
    int64_t wrong = kernels ? wrong_in(run) : NO_KERNELS;
    if (!wrong) kernels->run_layer(layer, run);
    return wrong;
}

/* out (count, size) = the token vectors of ids (count, characters); work: elmo_encode_work_bytes of room. kind: 1 or
 * 2. */
EXPORTED int64_t elmo_encode_tokens(int64_t kind, const Encoder *encoder, const int32_t *ids, int64_t count,
                                    char *work, float *out) {
    const Kernels *kernels = elmo_kernels(kind);
    if (!kernels) return NO_KERNELS;
    if (!all_within(ids, count * encoder->characters, 0, encoder->alphabet)) return 1;
    kernels->encode(encoder, ids, count, work, out);
    return 0;
}

/* Rounds of nothing but products, and the multiplications and additions of a round. */
EXPORTED void elmo_peak(int64_t kind, int64_t rounds) {
    if (elmo_kernels(kind)) elmo_kernels(kind)->peak(rounds);
}

EXPORTED int64_t elmo_peak_operations(int64_t kind) {
    return elmo_kernels(kind) ? 2 * kind * elmo_kernels(kind)->peak_words : 0;
}

/* Reads `size` bytes, a multiple of 256. */
EXPORTED void elmo_read(int64_t size, const char *from) {
    if (elmo_kernels(KIND_FLOAT32)) elmo_kernels(KIND_FLOAT32)->read(size, from);
}
