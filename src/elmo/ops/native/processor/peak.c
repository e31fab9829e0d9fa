/* What the processor can do at most: multiply-and-add instructions on registers, and reading memory. The yardstick of
 * `elmo bench`. */
#include <stdint.h>

#include "processor.h"

#if ON_X86 && !defined(NO_AVX512)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,fma")))

#define SIXTEEN(DO)                                                                                                    \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define START(N) __m512 sum##N = _mm512_setzero_ps();
#define RUN(INSTRUCTION)                                                                                               \
    for (int64_t k = 0; k < rounds; k++) {                                                                             \
        SIXTEEN(INSTRUCTION)                                                                                           \
    }
#define FLOAT(N) __asm__ volatile("vfmadd231ps %1, %1, %0" : "+v"(sum##N) : "v"(one));
#define BFLOAT(N) __asm__ volatile("vdpbf16ps %1, %1, %0" : "+v"(sum##N) : "v"(one));
#define BYTE(N) __asm__ volatile("vpdpbusd %1, %1, %0" : "+v"(sum##N) : "v"(one));

/* 16 instructions a round, on 16 groups of 1 (kind 1: float32), 2 (kind 2: bfloat16) or 4 (kind 4: int8) factors. */
EXPORTED AVX512 void elmo_peak(int64_t kind, int64_t rounds) {
    __m512 one = _mm512_setzero_ps();
    SIXTEEN(START)
    if (kind == 1)
        RUN(FLOAT)
    else if (kind == 2)
        RUN(BFLOAT)
    else
        RUN(BYTE)
}

/* Multiplications and additions of a round. */
EXPORTED int64_t elmo_peak_operations(int64_t kind) { return 2 * 16 * 16 * kind; }

/* Reads `size` bytes, a multiple of 256. */
EXPORTED AVX512 void elmo_read(int64_t size, const char *from) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    for (int64_t k = 0; k < size; k += 256) {
        a = _mm512_or_si512(a, _mm512_loadu_si512(from + k)), b = _mm512_or_si512(b, _mm512_loadu_si512(from + k + 64));
        c = _mm512_or_si512(c, _mm512_loadu_si512(from + k + 128)),
        d = _mm512_or_si512(d, _mm512_loadu_si512(from + k + 192));
    }
    a = _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d));
    __asm__ volatile("" : : "v"(a));
}

#else
EXPORTED int64_t elmo_peak_operations(int64_t kind) { return 0; }
EXPORTED void elmo_peak(int64_t kind, int64_t rounds) {}
EXPORTED void elmo_read(int64_t size, const char *from) {}
#endif
