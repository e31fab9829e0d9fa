/* WebAssembly's 128 bits: the vector operations that the kernels are written in. */
#include <wasm_simd128.h>

#define LANES 4
#define SLICE 2 /* vectors of a panel in one tile */
#define ALONE 8 /* the same for a row alone: as many as have a register each on x86 */
/* a slice of so many groups fits into the nearest cache, 256 bytes from line to line */
#define SHORTER(chunk) ((chunk) < 128 ? (chunk) : 128)
#define PAIR_ROWS 4 /* rows in a tile of bfloat16 pairs */
#define PEAK_SUMS 1 /* not measured here */
typedef v128_t Floats;
typedef v128_t Words;
typedef v128_t Doubles; /* half as many */

#define load(from) wasm_v128_load(from)
#define store(to, value) wasm_v128_store(to, value)
#define load_words(from) wasm_v128_load(from)
#define all(value) wasm_f32x4_splat(value)
#define zeros() wasm_f32x4_const_splat(0.0f)
#define add(a, b) wasm_f32x4_add(a, b)
#define sub(a, b) wasm_f32x4_sub(a, b)
#define mul(a, b) wasm_f32x4_mul(a, b)
#define quotient(a, b) wasm_f32x4_div(a, b)
#define fma(a, b, c) add(mul(a, b), c)  /* there is none: rounded twice */
#define fnma(a, b, c) sub(c, mul(a, b)) /* c - a * b */
/* least and most give b where one of both isn't a number: a bound comes first, so that no clipping hides one. */
#define least(a, b) wasm_f32x4_pmin(b, a)
#define most(a, b) wasm_f32x4_pmax(b, a)
#define most_or_nan(a, b) wasm_f32x4_max(a, b)
#define at_least(bound, a) most(all(bound), a) /* a bound for times_power */
#define fraction(a) sub(a, wasm_f32x4_floor(a))
#define floats_of(words) wasm_f32x4_convert_i32x4(words)

#define all_d(value) wasm_f64x2_splat(value)
#define zeros_d() wasm_f64x2_const_splat(0.0)
#define add_d(a, b) wasm_f64x2_add(a, b)
#define sub_d(a, b) wasm_f64x2_sub(a, b)
#define mul_d(a, b) wasm_f64x2_mul(a, b)
#define quotient_d(a, b) wasm_f64x2_div(a, b)
#define fma_d(a, b, c) add_d(mul_d(a, b), c)
#define fnma_d(a, b, c) sub_d(c, mul_d(a, b))
#define least_d(a, b) wasm_f64x2_pmin(b, a)
#define most_d(a, b) wasm_f64x2_pmax(b, a)
#define at_least_d(bound, a) most_d(all_d(bound), a)
#define fraction_d(a) sub_d(a, wasm_f64x2_floor(a))
#define low_half(a) wasm_f64x2_promote_low_f32x4(a)
#define high_half(a) wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(a, a, 1, 1))
#define both_halves(a, b)                                                                                              \
    wasm_i64x2_shuffle(wasm_f32x4_demote_f64x2_zero(a), wasm_f32x4_demote_f64x2_zero(b), 0, 2)

#define all_words(value) wasm_i32x4_splat((int32_t)(value))
#define zero_words() wasm_i32x4_const_splat(0)
#define add_words(a, b) wasm_i32x4_add(a, b)
#define sub_words(a, b) wasm_i32x4_sub(a, b)
#define as_floats(words) (words)
#define upper_half(words) wasm_v128_and(words, wasm_i32x4_const_splat((int32_t)0xffff0000))
#define lower_half(words) wasm_i32x4_shl(words, 16)
#define store_words(to, value) wasm_v128_store(to, value)

/* A sum with 3 * 2^22 has the nearest whole number in its low bits, ties to even; with 3 * 2^51 a double has. The
 * instructions that convert to whole numbers take several times as long on x86. */
#define WHOLE_IN_LOW_BITS 12582912.0f
#define WHOLE_IN_LOW_BITS_D 6755399441055744.0

/* Of values between -2^22 and 2^22. */
#define nearest_words(a) sub_words(add(a, all(WHOLE_IN_LOW_BITS)), all_words(0x4b400000))

/* a * 2^floor(n): it is added to a's exponent, which must stay in its range. */
#define times_power(a, n) add_words(a, wasm_i32x4_shl(add(wasm_f32x4_floor(n), all(WHOLE_IN_LOW_BITS)), 23))
#define times_power_d(a, n)                                                                                            \
    wasm_i64x2_add(a, wasm_i64x2_shl(add_d(wasm_f64x2_floor(n), all_d(WHOLE_IN_LOW_BITS_D)), 52))

/* There is nothing to hide from the compiler where nothing is measured. */
#define touch(value) ((void)(value))
