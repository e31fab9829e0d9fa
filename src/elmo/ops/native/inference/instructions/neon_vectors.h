/* NEON, which every 64-bit ARM has: the vector operations that the kernels are written in. */
#include <arm_neon.h>

#define LANES 4
#define SLICE 4 /* vectors of a panel in one tile */
#define ALONE TILE_VECTORS /* the same for a row alone */
/* a slice of so many groups fits into the nearest cache, 256 bytes from line to line */
#define SHORTER(chunk) ((chunk) < 128 ? (chunk) : 128)
#define PAIR_ROWS 4   /* rows in a tile of bfloat16 pairs, */
#define SIGNED_ROWS 6 /* and of int8 without a single instruction for it */
#define PEAK_SUMS 16  /* sums that hide how long a product takes */
typedef float32x4_t Floats;
typedef int32x4_t Words;
typedef float64x2_t Doubles; /* half as many */

#define load(from) vld1q_f32(from)
#define store(to, value) vst1q_f32(to, value)
#define load_words(from) vld1q_s32((const int32_t *)(from))
#define all(value) vdupq_n_f32(value)
#define zeros() vdupq_n_f32(0.0f)
#define add(a, b) vaddq_f32(a, b)
#define sub(a, b) vsubq_f32(a, b)
#define mul(a, b) vmulq_f32(a, b)
#define quotient(a, b) vdivq_f32(a, b)
#define fma(a, b, c) vfmaq_f32(c, a, b)  /* a * b + c */
#define fnma(a, b, c) vfmsq_f32(c, a, b) /* c - a * b */
#define least(a, b) vminq_f32(a, b)
#define most(a, b) vmaxq_f32(a, b)
#define most_or_nan(a, b) vmaxq_f32(a, b)
#define at_least(bound, a) most(all(bound), a) /* a bound for times_power */
#define fraction(a) sub(a, vrndmq_f32(a))
/* a * 2^floor(n): it is added to a's exponent, which must stay in its range. */
#define times_power(a, n) vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(a), vshlq_n_s32(vcvtmq_s32_f32(n), 23)))
#define floats_of(words) vcvtq_f32_s32(words)

#define all_d(value) vdupq_n_f64(value)
#define zeros_d() vdupq_n_f64(0.0)
#define add_d(a, b) vaddq_f64(a, b)
#define sub_d(a, b) vsubq_f64(a, b)
#define mul_d(a, b) vmulq_f64(a, b)
#define quotient_d(a, b) vdivq_f64(a, b)
#define fma_d(a, b, c) vfmaq_f64(c, a, b)
#define fnma_d(a, b, c) vfmsq_f64(c, a, b)
#define least_d(a, b) vminq_f64(a, b)
#define most_d(a, b) vmaxq_f64(a, b)
#define at_least_d(bound, a) most_d(all_d(bound), a)
#define fraction_d(a) sub_d(a, vrndmq_f64(a))
#define times_power_d(a, n)                                                                                            \
    vreinterpretq_f64_s64(vaddq_s64(vreinterpretq_s64_f64(a), vshlq_n_s64(vcvtmq_s64_f64(n), 52)))
#define low_half(a) vcvt_f64_f32(vget_low_f32(a))
#define high_half(a) vcvt_high_f64_f32(a)
#define both_halves(a, b) vcvt_high_f32_f64(vcvt_f32_f64(a), b)

#define all_words(value) vdupq_n_s32((int32_t)(value))
#define zero_words() vdupq_n_s32(0)
#define add_words(a, b) vaddq_s32(a, b)
#define sub_words(a, b) vsubq_s32(a, b)
#define as_floats(words) vreinterpretq_f32_s32(words)
#define upper_half(words) vandq_s32(words, vdupq_n_s32((int32_t)0xffff0000))
#define lower_half(words) vshlq_n_s32(words, 16)
#define nearest_words(a) vcvtnq_s32_f32(a)
#define store_words(to, value) vst1q_s32((int32_t *)(to), value)

/* The compiler takes the vector for changed. */
#define touch(value) __asm__ volatile("" : "+w"(value))
