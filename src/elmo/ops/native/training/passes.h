/* The passes of training, each compiled once for every tier: ON_TIER(name) is the function's name there. They return 0,
 * or the number of the array whose values lead out of another one, counted from 1. */
#ifndef ELMO_PASSES_H
#define ELMO_PASSES_H

#include <stdint.h>

/* DO(name, parameters, arguments) for each. */
#define PASSES(DO)                                                                                                     \
    GATE_PASSES(DO, f32, float)                                                                                        \
    GATE_PASSES(DO, bf16, uint16_t)                                                                                    \
    DO(max_over_positions,                                                                                             \
       (int64_t types, int64_t positions, int64_t filters, const float *restrict scores, float *restrict best,         \
        int32_t *restrict place),                                                                                      \
       (types, positions, filters, scores, best, place))                                                               \
    DO(max_over_positions_backward,                                                                                    \
       (int64_t types, int64_t row_size, int64_t dim, int64_t span, int64_t filters, const float *restrict vectors,    \
        const float *restrict kernel, const int32_t *restrict place, const float *restrict grad,                       \
        float *restrict grad_vectors, float *restrict grad_kernel),                                                    \
       (types, row_size, dim, span, filters, vectors, kernel, place, grad, grad_vectors, grad_kernel))

/* Of factors of one type, float32 or bfloat16. */
#define GATE_PASSES(DO, KIND, FACTOR)                                                                                  \
    DO(gates_forward_##KIND,                                                                                           \
       (int64_t rows, int64_t size, float clip, const FACTOR *restrict share, const FACTOR *restrict recurrent,        \
        const float *restrict bias, const float *restrict before, float *restrict gates, float *restrict after,        \
        float *restrict squashed, FACTOR *restrict output),                                                            \
       (rows, size, clip, share, recurrent, bias, before, gates, after, squashed, output))                             \
    DO(gates_backward_##KIND,                                                                                          \
       (int64_t rows, int64_t size, float clip, const float *restrict gates, const float *restrict before,             \
        const float *restrict after, const float *restrict squashed, const FACTOR *restrict grad_output,               \
        float *restrict grad_cell, FACTOR *restrict grad_gates, float *restrict grad_bias),                            \
       (rows, size, clip, gates, before, after, squashed, grad_output, grad_cell, grad_gates, grad_bias))              \
    DO(sampled_softmax_##KIND,                                                                                         \
       (int64_t rows, int64_t negatives, float scale, FACTOR *restrict logits, const float *restrict shift,            \
        const int64_t *restrict hit, float *restrict target, float *restrict nats, float *restrict grad_shift,         \
        float *restrict scratch),                                                                                      \
       (rows, negatives, scale, logits, shift, hit, target, nats, grad_shift, scratch))

#endif
