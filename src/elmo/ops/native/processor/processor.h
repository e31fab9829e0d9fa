/* What the processor can do, asked of the processor itself: whatever compiler built the library finds the same.
 * (`__builtin_cpu_supports` needs a runtime that not every compiler brings.) */
#ifndef ELMO_PROCESSOR_H
#define ELMO_PROCESSOR_H

#include <stdint.h>

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#if defined(__x86_64__)
#define ON_X86 1
#define X86_64_V3 "avx2,fma,bmi,bmi2,f16c,lzcnt,movbe"
#define X86_64_V4 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,f16c,lzcnt,movbe"
#endif
/* Where a program has to ask for AMX's tiles, and with compilers that know them. */
#if ON_X86 && defined(__linux__) && !defined(NO_AVX512) && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define WITH_AMX 1
#endif
#if defined(__aarch64__)
#define ON_ARM 1
#endif

/* The instruction sets that a function's code may use: between USE(...) and USE_END. */
#define PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define ARM_DOT "dotprod"
#define ARM_BF16 "bf16"
#define USE(sets) PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define USE_END PRAGMA(clang attribute pop)
#else
#define ARM_DOT "arch=armv8.2-a+dotprod"
#define ARM_BF16 "arch=armv8.2-a+bf16"
#define USE(sets) PRAGMA(GCC push_options) PRAGMA(GCC target(sets))
#define USE_END PRAGMA(GCC pop_options)
#endif

enum {
    HAS_AVX2 = 1,        /* with FMA, F16C, BMI, LZCNT, MOVBE: x86-64-v3 */
    HAS_AVX_VNNI = 2,    /* int8 products on 256 bits */
    HAS_AVX512 = 4,      /* F, BW, CD, DQ, VL: x86-64-v4 */
    HAS_AVX512_BF16 = 8, /* bfloat16 products that are faster than float32's */
    HAS_AVX512_VNNI = 16,
    HAS_NEON = 32,
    HAS_NEON_DOT = 64,   /* int8 products */
    HAS_NEON_BF16 = 128, /* bfloat16 products */
    HAS_AMX = 256        /* tiles, for bfloat16 and int8 */
};

/* What this processor and operating system have of these, up to the limit that was set. */
int64_t elmo_features(void);

#endif
