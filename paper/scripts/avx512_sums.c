// Two routines of OpenBLAS for processors with AVX2 alone: they round as its kernels for AVX-512 do, so that word2vec
// gives the vectors of such a processor, bit for bit (docs/reproduction.md, "Repeat it").
//
//   gcc -O2 -mavx2 -mfma -ffp-contract=off -shared -fPIC paper/scripts/avx512_sums.c -o avx512_sums.so
//   LD_PRELOAD=$PWD/avx512_sums.so elmo static train.txt -o word2vec-en.txt --seed 1
//
// Taken from the instructions of sdot_k_SKYLAKEX and saxpy_k_SKYLAKEX in scipy 1.17.1. A product is added to its sum by
// one instruction, rounded once, everywhere but behind the last 32 numbers of sdot.
#include <immintrin.h>
#include <stdlib.h>

static void require_contiguous(int step_x, int step_y) {
    if (step_x != 1 || step_y != 1) abort();  // gensim has no other vectors
}

static __m256 plus_products(__m256 sum, const float *x, const float *y) {
    return _mm256_fmadd_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(y), sum);
}

void scipy_saxpy_(const int *n, const float *alpha, const float *x, const int *step_x, float *y, const int *step_y) {
    if (*n <= 0 || *alpha == 0.0f) return;
    require_contiguous(*step_x, *step_y);
    for (int i = 0; i < *n; i++) y[i] = __builtin_fmaf(*alpha, x[i], y[i]);
}

float scipy_sdot_(const int *n, const float *x, const int *step_x, const float *y, const int *step_y) {
    if (*n <= 0) return 0.0f;
    require_contiguous(*step_x, *step_y);
    const int whole = *n & ~31;
    __m256 sums[8], *low = sums, *high = sums + 4;  // of four registers of AVX-512, their halves
    for (int j = 0; j < 8; j++) sums[j] = _mm256_setzero_ps();
    int i = 0;
    for (; i < (whole & ~63); i += 64)
        for (int j = 0; j < 4; j++) {
            low[j] = plus_products(low[j], x + i + 16 * j, y + i + 16 * j);
            high[j] = plus_products(high[j], x + i + 16 * j + 8, y + i + 16 * j + 8);
        }
    for (int j = 0; j < 4; j++) low[j] = _mm256_add_ps(low[j], high[j]);
    for (; i < whole; i += 32)
        for (int j = 0; j < 4; j++) low[j] = plus_products(low[j], x + i + 8 * j, y + i + 8 * j);
    const __m256 sum = _mm256_add_ps(_mm256_add_ps(_mm256_add_ps(low[0], low[1]), low[2]), low[3]);
    __m128 folded = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
    folded = _mm_hadd_ps(folded, folded);
    folded = _mm_hadd_ps(folded, folded);
    double rest = 0.0;
    for (; i < *n; i++) rest += (double)(y[i] * x[i]);
    return (float)(rest + (double)_mm_cvtss_f32(folded));
}
