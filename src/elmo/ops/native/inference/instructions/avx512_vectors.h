/* AVX-512: the vector operations that the kernels are written in. */
#include <immintrin.h>

#define LANES 16
#define SLICE 4 /* vectors of a panel in one tile */
#define ALONE TILE_VECTORS /* the same for a row alone */
#define SHORTER(chunk) (chunk)
#define PAIR_ROWS 5   /* rows in a tile of bfloat16 pairs, */
#define SIGNED_ROWS 5 /* and of int8 without a single instruction for it */
#define PEAK_SUMS 16  /* sums that hide how long a product takes */
typedef __m512 Floats;
typedef __m512i Words;
typedef __m512d Doubles; /* half as many */

#define load(from) _mm512_loadu_ps(from)
#define store(to, value) _mm512_storeu_ps(to, value)
#define load_words(from) _mm512_loadu_si512(from)
#define all(value) _mm512_set1_ps(value)
#define zeros() _mm512_setzero_ps()
#define add(a, b) _mm512_add_ps(a, b)
#define sub(a, b) _mm512_sub_ps(a, b)
#define mul(a, b) _mm512_mul_ps(a, b)
#define fma(a, b, c) _mm512_fmadd_ps(a, b, c)   /* a * b + c */
#define fnma(a, b, c) _mm512_fnmadd_ps(a, b, c) /* c - a * b */
/* least and most give b where one of both isn't a number: a bound comes first, so that no clipping hides one. */
#define least(a, b) _mm512_min_ps(a, b)
#define most(a, b) _mm512_max_ps(a, b)
#define most_or_nan(a, b) _mm512_mask_mov_ps(most(a, b), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a)
#define at_least(bound, a) (a)                   /* a bound for times_power, which needs none below here */
#define fraction(a) _mm512_reduce_ps(a, 1)       /* a - floor(a), of -inf 0 */
#define times_power(a, n) _mm512_scalef_ps(a, n) /* a * 2^floor(n) */
#define floats_of(words) _mm512_cvtepi32_ps(words)

#define all_d(value) _mm512_set1_pd(value)
#define zeros_d() _mm512_setzero_pd()
#define add_d(a, b) _mm512_add_pd(a, b)
#define sub_d(a, b) _mm512_sub_pd(a, b)
#define mul_d(a, b) _mm512_mul_pd(a, b)
#define fma_d(a, b, c) _mm512_fmadd_pd(a, b, c)
#define fnma_d(a, b, c) _mm512_fnmadd_pd(a, b, c)
#define least_d(a, b) _mm512_min_pd(a, b)
#define most_d(a, b) _mm512_max_pd(a, b)
#define at_least_d(bound, a) (a)
#define fraction_d(a) _mm512_reduce_pd(a, 1)
#define times_power_d(a, n) _mm512_scalef_pd(a, n)
#define low_half(a) _mm512_cvtps_pd(_mm512_castps512_ps256(a))
#define high_half(a) _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1))
#define both_halves(a, b) _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1)

#define all_words(value) _mm512_set1_epi32((int32_t)(value))
#define zero_words() _mm512_setzero_si512()
#define add_words(a, b) _mm512_add_epi32(a, b)
#define sub_words(a, b) _mm512_sub_epi32(a, b)
#define as_floats(words) _mm512_castsi512_ps(words)
#define upper_half(words) _mm512_and_si512(words, _mm512_set1_epi32((int32_t)0xffff0000))
#define lower_half(words) _mm512_slli_epi32(words, 16)
#define nearest_words(a) _mm512_cvtps_epi32(a)
#define store_words(to, value) _mm512_storeu_si512(to, value)

/* a / b, to 2^-27 in single and 2^-41 in double precision, for positive b whose reciprocal is a normal value: the
 * processor's estimate of the reciprocal, to 2^-14, and a step of Newton's method. A division takes three times as
 * long. */
INLINE Floats quotient(Floats a, Floats b) {
    Floats guess = _mm512_rcp14_ps(b);
    return mul(a, fma(guess, fnma(b, guess, all(1)), guess));
}

INLINE Doubles quotient_d(Doubles a, Doubles b) {
    Doubles guess = _mm512_rcp14_pd(b), rest = fnma_d(b, guess, all_d(1));
    return mul_d(a, fma_d(guess, fma_d(rest, rest, rest), guess));
}

/* The compiler takes the vector for changed. */
#define touch(value) __asm__ volatile("" : "+v"(value))
