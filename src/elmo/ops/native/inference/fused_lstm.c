/* The inference of one projected LSTM layer in one call: products, gates, clips and projection of all steps, with
 * factors of float32, bfloat16 or int8 and everything between the products in float32. For processors with AVX-512;
 * elsewhere, and as the oracle, the torch version in ops/projected_lstm/packed.py runs.
 *
 * Threads share a run by its columns (`rank` of `team`) or take runs of their own.
 */
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "../processor/processor.h"

#if ON_X86 && !defined(NO_AVX512)
#include <immintrin.h>

typedef struct { /* a weight laid out in panels, see fused_lstm.h */
    const uint32_t *weights;
    const float *scales; /* int8: of each column */
    const int32_t *sums; /* int8: 128 * the sum of each column's weights, for each chunk */
    int64_t panels, groups;
    int64_t chunk; /* groups added up before they join the sum */
} Packed;

typedef struct {
    Packed input, recurrent, projection; /* projection.weights may be NULL */
    const float *bias;                   /* in the order of the gate panels, forget bias included */
    int64_t dim, size, cell_size;        /* of the inputs, the outputs and the cell */
    float cell_clip, projection_clip;    /* INFINITY: none */
} Layer;

typedef struct {
    const int64_t *alive; /* (steps) rows that still have a token: never more than at the step before */
    const int64_t
        *places;          /* (sum of alive): where the inputs and outputs lie, all rows of step 0, then of step 1 ... */
    const float *inputs;  /* a row of `dim` every input_stride numbers */
    float *outputs;       /* a row of `size` every output_stride numbers */
    float *hidden, *cell; /* (rows, size), (rows, cell_size): the state, brought up to date */
    float *made;          /* (rows, cell_size): room, shared by the team */
    char *work;           /* elmo_fused_lstm_work_bytes of room, of this thread alone */
    int32_t *arrivals;    /* (team, 16) zeros: where the threads wait for each other */
    int64_t steps, input_stride, output_stride;
    int64_t skips; /* 1: the inputs are added to the outputs, but not to the state (dim == size) */
    int64_t rank, team;
} Run;

typedef struct {                              /* a thread's part */
    int64_t first, last, first_out, last_out; /* its panels of the gates and of the projection */
    int64_t ahead;                            /* steps whose inputs go through their product together */
    uint32_t *inputs, *hidden, *made;
    float *input_scales, *hidden_scales, *made_scales, *gates, *projected;
} Work;

/* With fewer rows than this the inputs of several steps share a product, or its weights would be read too often. */
enum { ENOUGH_ROWS = 12 };

/* Rows of a plain product that are multiplied with a panel while it is in the cache. */
enum { ROWS_AT_ONCE = 60 };

static int64_t steps_ahead(int64_t rows) { return rows >= ENOUGH_ROWS ? 1 : 2 * ENOUGH_ROWS / (rows > 0 ? rows : 1); }

static Work divided(const Layer *layer, const Run *run) {
    int64_t most = run->steps ? run->alive[0] : 0, panels = layer->recurrent.panels, out = layer->projection.panels;
    Work work = {panels * run->rank / run->team,
                 panels * (run->rank + 1) / run->team,
                 out * run->rank / run->team,
                 out * (run->rank + 1) / run->team,
                 steps_ahead(most),
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL,
                 NULL};
    int64_t piece = most * work.ahead;
    work.gates = (float *)run->work;
    work.projected = work.gates + (work.ahead == 1 ? most * 64 : piece * 64 * panels);
    work.inputs = (uint32_t *)(work.projected + most * 64);
    work.hidden = work.inputs + piece * layer->input.groups;
    work.made = work.hidden + most * layer->recurrent.groups;
    work.input_scales = (float *)(work.made + most * layer->projection.groups);
    work.hidden_scales = work.input_scales + piece;
    work.made_scales = work.hidden_scales + most;
    return work;
}

/* Waits until the whole team is here. */
static void meet(const Run *run) {
    if (run->team == 1) return;
    int32_t now = run->arrivals[16 * run->rank] + 1;
    __atomic_store_n(&run->arrivals[16 * run->rank], now, __ATOMIC_RELEASE);
    for (int64_t other = 0; other < run->team; other++)
        for (int64_t waits = 0; __atomic_load_n(&run->arrivals[16 * other], __ATOMIC_ACQUIRE) < now; waits++) {
            if (waits < 4000)
                __builtin_ia32_pause();
            else
                sched_yield();
        }
}

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#define INLINE_AVX512 static inline __attribute__((always_inline, target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

/* One panel's bias (NULL: zeros) into every row. */
AVX512 static void begin_with(const float *bias, int64_t count, float *out, int64_t stride) {
    for (int64_t row = 0; row < count; row++)
        for (int part = 0; part < 64; part += 16)
            _mm512_storeu_ps(out + row * stride + part, bias ? _mm512_loadu_ps(bias + part) : _mm512_setzero_ps());
}

/* One row's new state, this thread's columns of it, and the output. */
AVX512 static void keep(const Run *run, const float *from, int64_t first, int64_t columns, float clip, float *hidden,
                        int64_t place) {
    const float *input = run->inputs + place * run->input_stride + first;
    float *output = run->outputs + place * run->output_stride + first;
    hidden += first;
    for (int64_t k = 0; k < columns; k++) hidden[k] = from[k] > clip ? clip : from[k] < -clip ? -clip : from[k];
    for (int64_t k = 0; k < columns; k++) output[k] = run->skips ? hidden[k] + input[k] : hidden[k];
}

/* --- float32: gates in double precision, since weights that amplify rounding show a float's (dev/LOG.md) --- */

/* exp to about 1e-11, for absolute values up to 40 (logistic functions differ from 0 or 1 by 4e-18 there). */
INLINE_AVX512 __m512d exp_double(__m512d x) {
    static const double ways[] = {1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 0.5, 1, 1};
    x = _mm512_max_pd(_mm512_min_pd(x, _mm512_set1_pd(40)), _mm512_set1_pd(-40));
    __m512d n = _mm512_roundscale_pd(_mm512_mul_pd(x, _mm512_set1_pd(1.4426950408889634)), 0);
    __m512d r = _mm512_fnmadd_pd(n, _mm512_set1_pd(0.6931471805599453), x), p = _mm512_set1_pd(ways[0]);
    for (int k = 1; k < 10; k++) p = _mm512_fmadd_pd(p, r, _mm512_set1_pd(ways[k]));
    return _mm512_scalef_pd(p, n);
}

/* c = clip(f * before + i * tanh(j)) = (before * I * J + (1 - u) * F) / (I * F * J) with I = 1 + exp(-i), F likewise,
 * u = exp(-2 j), J = 1 + u; output = o * tanh(c) likewise: one division each. */
#define UPDATE_CELLS(NAME, TYPE, OP, EXP)                                                                              \
    INLINE_AVX512 TYPE NAME(TYPE i, TYPE f, TYPE o, TYPE j, TYPE before, TYPE low, TYPE high, TYPE *output) {          \
        TYPE one = OP(set1)(1), minus_two = OP(set1)(-2), none = OP(setzero)();                                        \
        TYPE in = OP(add)(one, EXP(OP(sub)(none, i))), forget = OP(add)(one, EXP(OP(sub)(none, f)));                   \
        TYPE u = EXP(OP(mul)(j, minus_two)), both = OP(mul)(in, OP(add)(one, u));                                      \
        TYPE cell = OP(div)(OP(fmadd)(before, both, OP(mul)(OP(sub)(one, u), forget)), OP(mul)(both, forget));         \
        cell = OP(max)(OP(min)(cell, high), low);                                                                      \
        TYPE w = EXP(OP(mul)(cell, minus_two)), out = OP(add)(one, EXP(OP(sub)(none, o)));                             \
        *output = OP(div)(OP(sub)(one, w), OP(mul)(out, OP(add)(one, w)));                                             \
        return cell;                                                                                                   \
    }

#define DOUBLE(name) _mm512_##name##_pd
UPDATE_CELLS(update_double, __m512d, DOUBLE, exp_double)

#define LOW_HALF(x) _mm512_cvtps_pd(_mm512_castps512_ps256(x))
#define HIGH_HALF(x) _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1))
#define BOTH_HALVES(a, b) _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1)

INLINE_AVX512 __m512 update_exactly(__m512 i, __m512 f, __m512 o, __m512 j, __m512 before, __m512 low, __m512 high,
                                    __m512 *output) {
    __m512d output_a, output_b;
#define HALF(PART, OUTPUT)                                                                                             \
    update_double(PART(i), PART(f), PART(o), PART(j), PART(before), PART(low), PART(high), OUTPUT)
    __m512d cell_a = HALF(LOW_HALF, &output_a), cell_b = HALF(HIGH_HALF, &output_b);
#undef HALF
    *output = BOTH_HALVES(output_a, output_b);
    return BOTH_HALVES(cell_a, cell_b);
}

/* A row as it is. */
AVX512 static float keep_row(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    memcpy(to, from, size * sizeof(float));
    return 1.0f;
}

#define KIND(name) name##_f32
#define FAST AVX512
#define Sums __m512
#define NO_SUMS _mm512_setzero_ps()
#define DOT(sums, rows, weights) _mm512_fmadd_ps(_mm512_castsi512_ps(rows), _mm512_castsi512_ps(weights), sums)
#define ADD_SUMS(out, found, matrix, chunk, column, scale) ((void)(chunk), (void)(column), _mm512_add_ps(out, found))
#define CONVERT keep_row
#define UPDATE update_exactly
#include "fused_lstm.h"
#undef KIND
#undef FAST
#undef DOT
#undef CONVERT
#undef UPDATE

/* --- bfloat16 and int8: gates in single precision, whose errors vanish beside those of the factors --- */

/* exp to a few units in the last place, for absolute values up to 28: three factors 1 + exp stay below the largest
 * float. Source of the coefficients: S. Moshier, Cephes mathematical library, single precision. */
INLINE_AVX512 __m512 exp_single(__m512 x) {
    static const float ways[] = {1.9875691500e-4f,
                                 1.3981999507e-3f,
                                 8.3334519073e-3f,
                                 4.1665795894e-2f,
                                 1.6666665459e-1f,
                                 5.0000001201e-1f,
                                 1.0f,
                                 1.0f};
    x = _mm512_max_ps(_mm512_min_ps(x, _mm512_set1_ps(28)), _mm512_set1_ps(-28));
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), 0);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693147182f), x), p = _mm512_set1_ps(ways[0]);
    for (int k = 1; k < 8; k++) p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(ways[k]));
    return _mm512_scalef_ps(p, n);
}

#define SINGLE(name) _mm512_##name##_ps
UPDATE_CELLS(update_single, __m512, SINGLE, exp_single)
#define UPDATE update_single

#define AVX512_BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,avx512bf16")))

/* A row rounded to bfloat16, two factors in a group. */
AVX512_BF16 static float bfloat16_row(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    uint16_t *place = (uint16_t *)to;
    for (int64_t k = 0; k < 2 * groups; k += 16) {
        __mmask16 there = size - k >= 16 ? 0xffff : (__mmask16)((1u << (size - k)) - 1);
        __mmask16 room = 2 * groups - k >= 16 ? 0xffff : (__mmask16)((1u << (2 * groups - k)) - 1);
        _mm256_mask_storeu_epi16(place + k, room, (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(there, from + k)));
    }
    return 1.0f;
}

/* The instruction itself, here and for int8: around their intrinsics GCC 12 moves sums to memory and back. */
INLINE_AVX512 __m512 dot_bfloat16(__m512 sums, __m512i rows, __m512i weights) {
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(rows), "v"(weights));
    return sums;
}

#define KIND(name) name##_bf16
#define FAST AVX512_BF16
#define DOT dot_bfloat16
#define CONVERT bfloat16_row
#include "fused_lstm.h"
#undef KIND
#undef FAST
#undef Sums
#undef NO_SUMS
#undef DOT
#undef ADD_SUMS
#undef CONVERT

#define AVX512_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,avx512vnni")))

/* A row rounded to 255 steps of its own size, four factors in a group: 128 is 0. Returns the step. */
AVX512_VNNI static float int8_row(const float *from, int64_t size, int64_t groups, uint32_t *to) {
    __m512 most = _mm512_setzero_ps();
    uint8_t *place = (uint8_t *)to;
    for (int64_t k = 0; k < size; k += 16) {
        __mmask16 there = size - k >= 16 ? 0xffff : (__mmask16)((1u << (size - k)) - 1);
        most = _mm512_max_ps(most, _mm512_abs_ps(_mm512_maskz_loadu_ps(there, from + k)));
    }
    float largest = _mm512_reduce_max_ps(most);
    __m512 steps = _mm512_set1_ps(largest > 0.0f ? 127.0f / largest : 0.0f);
    for (int64_t k = 0; k < 4 * groups; k += 16) {
        __mmask16 there = size - k >= 16 ? 0xffff : (__mmask16)((1u << (size - k)) - 1);
        __mmask16 room = 4 * groups - k >= 16 ? 0xffff : (__mmask16)((1u << (4 * groups - k)) - 1);
        __m512i rounded = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_maskz_loadu_ps(there, from + k), steps));
        __m128i bytes = _mm512_cvtepi32_epi8(_mm512_add_epi32(rounded, _mm512_set1_epi32(128)));
        _mm_mask_storeu_epi8(place + k, room, bytes);
    }
    return largest / 127.0f;
}

INLINE_AVX512 __m512i dot_int8(__m512i sums, __m512i rows, __m512i weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(rows), "v"(weights));
    return sums;
}

#define KIND(name) name##_int8
#define FAST AVX512_VNNI
#define Sums __m512i
#define NO_SUMS _mm512_setzero_si512()
#define DOT dot_int8
#define ADD_SUMS(out, found, matrix, chunk, column, scale)                                                             \
    _mm512_fmadd_ps(                                                                                                   \
        _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(                                                             \
                          found, _mm512_loadu_si512((matrix)->sums + (chunk)*64 * (matrix)->panels + (column)))),      \
                      _mm512_loadu_ps((matrix)->scales + (column))),                                                   \
        _mm512_set1_ps(scale), out)
#define CONVERT int8_row
#include "fused_lstm.h"

/* Which kinds this processor has the instructions for: 1 float32, 2 bfloat16, 4 int8. */
EXPORTED int64_t elmo_fused_kinds(void) {
    int64_t features = elmo_features();
    if (!(features & HAS_AVX512)) return 0;
    return 1 | (features & HAS_AVX512_BF16 ? 2 : 0) | (features & HAS_AVX512_VNNI ? 4 : 0);
}

/* Bytes of a run's `work`. */
EXPORTED int64_t elmo_fused_lstm_work_bytes(const Layer *layer, const Run *run) {
    int64_t most = run->steps ? run->alive[0] : 0;
    return (char *)(divided(layer, run).made_scales + most) - run->work;
}

/* Bytes of a plain product's `work`. */
EXPORTED int64_t elmo_product_work_bytes(const Packed *matrix) { return ROWS_AT_ONCE * 4 * (1 + matrix->groups); }

/* out (count, 64 * panels) = rows (count, inner) * matrix + bias (NULL: none), the panels [first, last) of it. */
EXPORTED void elmo_product(int64_t kind, const Packed *matrix, const float *bias, const float *rows, int64_t count,
                           int64_t inner, int64_t first, int64_t last, char *work, float *out) {
    if (kind == 1)
        multiply_f32(matrix, bias, rows, count, inner, first, last, work, out);
    else if (kind == 2)
        multiply_bf16(matrix, bias, rows, count, inner, first, last, work, out);
    else
        multiply_int8(matrix, bias, rows, count, inner, first, last, work, out);
}

/* kind: 1, 2 or 4, as in elmo_fused_kinds. */
EXPORTED void elmo_fused_lstm(int64_t kind, const Layer *layer, const Run *run) {
    if (kind == 1)
        run_layer_f32(layer, run);
    else if (kind == 2)
        run_layer_bf16(layer, run);
    else
        run_layer_int8(layer, run);
}

#else
EXPORTED int64_t elmo_fused_kinds(void) { return 0; }
EXPORTED int64_t elmo_fused_lstm_work_bytes(const void *layer, const void *run) { return 0; }
EXPORTED void elmo_fused_lstm(int64_t kind, const void *layer, const void *run) {}
EXPORTED int64_t elmo_product_work_bytes(const void *matrix) { return 0; }
EXPORTED void elmo_product(int64_t kind, const void *matrix, const float *bias, const float *rows, int64_t count,
                           int64_t inner, int64_t first, int64_t last, char *work, float *out) {}
#endif
