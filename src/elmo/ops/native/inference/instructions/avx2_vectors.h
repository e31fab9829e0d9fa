/* AVX2 and FMA: the vector operations that the kernels are written in. */
#include <immintrin.h>

#define LANES 8
#define SLICE 2 /* vectors of a panel in one tile */
#define ALONE TILE_VECTORS /* the same for a row alone */
/* a slice of so many groups fits into the nearest cache, 256 bytes from line to line */
#define SHORTER(chunk) ((chunk) < 128 ? (chunk) : 128)
#define PAIR_ROWS 4   /* rows in a tile of bfloat16 pairs, */
#define SIGNED_ROWS 5 /* and of int8 without a single instruction for it */
#define PEAK_SUMS 12  /* sums that hide how long a product takes */
typedef __m256 Floats;
typedef __m256i Words;
typedef __m256d Doubles; /* half as many */

#define load(from) _mm256_loadu_ps(from)
#define store(to, value) _mm256_storeu_ps(to, value)
#define load_words(from) _mm256_loadu_si256((const __m256i *)(from))
#define all(value) _mm256_set1_ps(value)
#define zeros() _mm256_setzero_ps()
#define add(a, b) _mm256_add_ps(a, b)
#define sub(a, b) _mm256_sub_ps(a, b)
#define mul(a, b) _mm256_mul_ps(a, b)
#define quotient(a, b) _mm256_div_ps(a, b)
#define fma(a, b, c) _mm256_fmadd_ps(a, b, c)   /* a * b + c */
#define fnma(a, b, c) _mm256_fnmadd_ps(a, b, c) /* c - a * b */
/* least and most give b where one of both isn't a number: a bound comes first, so that no clipping hides one. */
#define least(a, b) _mm256_min_ps(a, b)
#define most(a, b) _mm256_max_ps(a, b)
#define most_or_nan(a, b) _mm256_blendv_ps(most(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q))
#define at_least(bound, a) most(all(bound), a) /* a bound for times_power */
#define fraction(a) sub(a, _mm256_floor_ps(a))
#define floats_of(words) _mm256_cvtepi32_ps(words)

#define all_d(value) _mm256_set1_pd(value)
#define zeros_d() _mm256_setzero_pd()
#define add_d(a, b) _mm256_add_pd(a, b)
#define sub_d(a, b) _mm256_sub_pd(a, b)
#define mul_d(a, b) _mm256_mul_pd(a, b)
#define quotient_d(a, b) _mm256_div_pd(a, b)
#define fma_d(a, b, c) _mm256_fmadd_pd(a, b, c)
#define fnma_d(a, b, c) _mm256_fnmadd_pd(a, b, c)
#define least_d(a, b) _mm256_min_pd(a, b)
#define most_d(a, b) _mm256_max_pd(a, b)
#define at_least_d(bound, a) most_d(all_d(bound), a)
#define fraction_d(a) sub_d(a, _mm256_floor_pd(a))
#define low_half(a) _mm256_cvtps_pd(_mm256_castps256_ps128(a))
#define high_half(a) _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1))
#define both_halves(a, b) _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a))

#define all_words(value) _mm256_set1_epi32((int32_t)(value))
#define zero_words() _mm256_setzero_si256()
#define add_words(a, b) _mm256_add_epi32(a, b)
#define sub_words(a, b) _mm256_sub_epi32(a, b)
#define as_floats(words) _mm256_castsi256_ps(words)
#define upper_half(words) _mm256_and_si256(words, _mm256_set1_epi32((int32_t)0xffff0000))
#define lower_half(words) _mm256_slli_epi32(words, 16)
#define nearest_words(a) _mm256_cvtps_epi32(a)
#define store_words(to, value) _mm256_storeu_si256((__m256i *)(to), value)

/* a * 2^floor(n): it is added to a's exponent, which must stay in its range. */
static inline __attribute__((always_inline)) Floats times_power(Floats a, Floats n) {
    Words shift = _mm256_slli_epi32(_mm256_cvtps_epi32(_mm256_floor_ps(n)), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), shift));
}

static inline __attribute__((always_inline)) Doubles times_power_d(Doubles a, Doubles n) {
    Words shift = _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(_mm256_floor_pd(n))), 52);
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(a), shift));
}

/* The compiler takes the vector for changed. */
#define touch(value) __asm__ volatile("" : "+x"(value))
