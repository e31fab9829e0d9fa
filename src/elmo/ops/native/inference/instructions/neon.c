/* The kernels for 64-bit ARM, with the dot products of int8 and bfloat16 where they are, and without. */
#include "../../processor/processor.h"
#include "../kinds.h"

#if ON_ARM
#include "neon_vectors.h"
#include "../rows.h"
#include "../gates.h"

#include "../kinds/float32.h"
const Kernels *const elmo_neon_float32 = &kernels_float32;

#include "../kinds/stored_bfloat16.h"
const Kernels *const elmo_neon_stored_bfloat16 = &kernels_stored_bfloat16;

/* Products of four signed bytes: of the low and high ones of each vector in 16 bits, then pairs of them in 32. */
INLINE Words dot_bytes(Words sums, Words rows, Words weights) {
    int8x16_t a = vreinterpretq_s8_s32(rows), b = vreinterpretq_s8_s32(weights);
    int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    return vaddq_s32(sums, vpaddq_s32(low, vpaddlq_s16(vmull_high_s8(a, b))));
}

#define KIND(name) name##_int8
#define FACTOR(at) all_words(*(at))
#define DOT dot_bytes
#include "../kinds/signed_int8.h"
const Kernels *const elmo_neon_int8 = &kernels_int8;

USE(ARM_DOT)
INLINE Words dot_sdot(Words sums, Words rows, Words weights) {
    __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(rows), "w"(weights));
    return sums;
}

#define KIND(name) name##_int8_dot
#define FACTOR(at) all_words(*(at))
#define DOT dot_sdot
#include "../kinds/signed_int8.h"
const Kernels *const elmo_neon_int8_dot = &kernels_int8_dot;

USE_END

USE(ARM_BF16)
INLINE Floats dot_bfloat16(Floats sums, Words rows, Words weights) {
    __asm__("bfdot %0.4s, %1.8h, %2.8h" : "+w"(sums) : "w"(rows), "w"(weights));
    return sums;
}

#define KIND(name) name##_bfloat16
#define CONVERT bfloat16_row
#define DOT dot_bfloat16
#include "../kinds/bfloat16.h"
const Kernels *const elmo_neon_bfloat16 = &kernels_bfloat16;
USE_END
#endif
