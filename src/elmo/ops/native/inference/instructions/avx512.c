/* The kernels for AVX-512, with its instructions for bfloat16 and int8 where they are, and without; and with AMX. */
#include "../../processor/processor.h"
#include "../kinds.h"

#if ON_X86 && !defined(NO_AVX512)
USE(X86_64_V4)
#include "avx512_vectors.h"
#include "../rows.h"
#include "../gates.h"

#include "../kinds/float32.h"
const Kernels *const elmo_avx512_float32 = &kernels_float32;

#include "../kinds/stored_bfloat16.h"
const Kernels *const elmo_avx512_stored_bfloat16 = &kernels_stored_bfloat16;

/* Bytes of `value`, negated where the other's are negative. */
INLINE Words with_sign(Words value, Words sign) {
    return _mm512_mask_sub_epi8(value, _mm512_movepi8_mask(sign), _mm512_setzero_si512(), value);
}

/* Products of four signed bytes. Pairs of them fit into 16 bits only if one factor has no sign: it goes to the other.
 */
#define KIND(name) name##_int8
#define FACTOR(at) all_words(*(at))
#define DOT(sums, factor, weights)                                                                                     \
    add_words(sums, _mm512_madd_epi16(_mm512_maddubs_epi16(_mm512_abs_epi8(factor), with_sign(weights, factor)),       \
                                      _mm512_set1_epi16(1)))
#include "../kinds/signed_int8.h"
const Kernels *const elmo_avx512_int8 = &kernels_int8;
USE_END

USE(X86_64_V4 ",avx512vnni")
/* The instruction itself, here and for bfloat16: around their intrinsics GCC 12 moves sums to memory and back. */
INLINE Words dot_vnni(Words sums, Words rows, Words weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(rows), "v"(weights));
    return sums;
}

/* As int8_row_unsigned of rows.h, sixteen at a time. */
static float int8_row_avx512(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    __m512 largest = _mm512_setzero_ps();
    uint8_t *place = (uint8_t *)to;
    for (int64_t k = 0; k < size; k += 16) {
        __mmask16 there = size - k >= 16 ? 0xffff : (__mmask16)((1u << (size - k)) - 1);
        __m512 sizes = _mm512_abs_ps(_mm512_maskz_loadu_ps(there, from + k));
        largest = most_or_nan(largest, sizes);
    }
    float step = _mm512_cmp_ps_mask(largest, largest, _CMP_UNORD_Q) ? NAN : _mm512_reduce_max_ps(largest);
    __m512 steps = _mm512_set1_ps(step > 0.0f ? 127.0f / step : 0.0f);
    for (int64_t k = 0; k < 4 * groups; k += 16) {
        __mmask16 there = size - k >= 16 ? 0xffff : k >= size ? 0 : (__mmask16)((1u << (size - k)) - 1);
        __mmask16 room = 4 * groups - k >= 16 ? 0xffff : (__mmask16)((1u << (4 * groups - k)) - 1);
        __m512i rounded = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_maskz_loadu_ps(there, from + k), steps));
        __m128i bytes = _mm512_cvtepi32_epi8(_mm512_add_epi32(rounded, _mm512_set1_epi32(128)));
        _mm_mask_storeu_epi8(place + k, room, bytes);
    }
    return step / 127.0f;
}

#define KIND(name) name##_int8_vnni
#define CONVERT int8_row_avx512
#define DOT dot_vnni
#include "../kinds/unsigned_int8.h"
const Kernels *const elmo_avx512_int8_vnni = &kernels_int8_vnni;
USE_END

#if WITH_AMX
USE(X86_64_V4 ",avx512vnni,amx-tile,amx-int8")
#define KIND(name) name##_int8_amx
#define CONVERT int8_row_avx512
#define DOT_TILES _tile_dpbusd
#define LOAD_SUMS(at) load_words(at)
#include "../kinds/unsigned_int8.h"
const Kernels *const elmo_amx_int8 = &kernels_int8_amx;
USE_END
#endif

USE(X86_64_V4 ",avx512bf16")
/* As bfloat16_row of rows.h, sixteen at a time. */
static float bfloat16_row_avx512(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    uint16_t *place = (uint16_t *)to;
    for (int64_t k = 0; k < 2 * groups; k += 16) {
        __mmask16 there = size - k >= 16 ? 0xffff : k >= size ? 0 : (__mmask16)((1u << (size - k)) - 1);
        __mmask16 room = 2 * groups - k >= 16 ? 0xffff : (__mmask16)((1u << (2 * groups - k)) - 1);
        _mm256_mask_storeu_epi16(place + k, room, (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(there, from + k)));
    }
    return 1.0f;
}

INLINE Floats dot_bfloat16(Floats sums, Words rows, Words weights) {
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(rows), "v"(weights));
    return sums;
}

#define KIND(name) name##_bfloat16
#define CONVERT bfloat16_row_avx512
#define DOT dot_bfloat16
#include "../kinds/bfloat16.h"
const Kernels *const elmo_avx512_bfloat16 = &kernels_bfloat16;
USE_END

#if WITH_AMX
USE(X86_64_V4 ",avx512bf16,amx-tile,amx-bf16")
#define KIND(name) name##_bfloat16_amx
#define CONVERT bfloat16_row_avx512
#define DOT_TILES _tile_dpbf16ps
#define LOAD_SUMS(at) load(at)
#include "../kinds/bfloat16.h"
const Kernels *const elmo_amx_bfloat16 = &kernels_bfloat16_amx;
USE_END
#endif
#endif
