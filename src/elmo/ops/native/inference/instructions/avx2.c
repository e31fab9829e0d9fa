/* The kernels for AVX2 and FMA: bfloat16 halves what is read and is computed as float32; int8 with AVX-VNNI or without.
 */
#include "../../processor/processor.h"
#include "../kinds.h"

#if ON_X86
USE(X86_64_V3)
#include "avx2_vectors.h"
#include "../rows.h"
#include "../gates.h"

#include "../kinds/float32.h"
const Kernels *const elmo_avx2_float32 = &kernels_float32;

#include "../kinds/stored_bfloat16.h"
const Kernels *const elmo_avx2_stored_bfloat16 = &kernels_stored_bfloat16;

/* Products of four signed bytes. Pairs of them fit into 16 bits only if one factor has no sign: it goes to the other.
 */
#define KIND(name) name##_int8
#define FACTOR(at) all_words(*(at))
#define DOT(sums, factor, weights)                                                                                     \
    add_words(sums,                                                                                                    \
              _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(factor), _mm256_sign_epi8(weights, factor)),      \
                                _mm256_set1_epi16(1)))
#include "../kinds/signed_int8.h"
const Kernels *const elmo_avx2_int8 = &kernels_int8;

#if !defined(NO_AVX512)
INLINE Words dot_vnni(Words sums, Words rows, Words weights) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(rows), "x"(weights));
    return sums;
}

#define KIND(name) name##_int8_vnni
#define CONVERT int8_row_unsigned
#define DOT dot_vnni
#include "../kinds/unsigned_int8.h"
const Kernels *const elmo_avx2_int8_vnni = &kernels_int8_vnni;
#endif
USE_END
#endif
