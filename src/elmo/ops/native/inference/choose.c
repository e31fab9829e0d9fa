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

/* out (count, 64 * panels) = rows (count, inner) * matrix + bias (NULL: none), the panels [first, last) of it. */
EXPORTED void elmo_product(int64_t kind, const Packed *matrix, const float *bias, const float *rows, int64_t count,
                           int64_t inner, int64_t first, int64_t last, char *work, float *out) {
    elmo_kernels(kind)->multiply(matrix, bias, rows, count, inner, first, last, work, out);
}

/* kind: 1, 2 or 4, as in elmo_fused_kinds. */
EXPORTED void elmo_fused_lstm(int64_t kind, const Layer *layer, const Run *run) {
    elmo_kernels(kind)->run_layer(layer, run);
}

/* out (count, size) = the token vectors of ids (count, characters), which must be of the encoder's alphabet; work:
 * elmo_encode_work_bytes of room. kind: 1 or 2. */
EXPORTED void elmo_encode_tokens(int64_t kind, const Encoder *encoder, const int32_t *ids, int64_t count, char *work,
                                 float *out) {
    elmo_kernels(kind)->encode(encoder, ids, count, work, out);
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
