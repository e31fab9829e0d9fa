/* The sampled softmax's loss and its gradient in one pass over the logits.
 *
 * Specification and oracle: `sampled_softmax_reference` in ops/sampled_softmax.py, and its autograd. A row of logits
 * stays in the nearest cache while it is read, turned into probabilities and written back as gradients.
 */

float logf(float);

/* logits (rows, negatives): products of outputs and weights, replaced by scale times their gradient. shift (negatives):
 * added to every row. hit (rows): which negative is the row's own target and does not count, or -1. target (rows): the
 * target's logit, replaced by scale times its gradient. nats (rows): the loss. grad_shift (negatives): scale times the
 * shift's gradient is added here. scratch (negatives). */
#define SAMPLED_SOFTMAX(NAME, FACTOR, READ, WRITE)                                                                     \
    int64_t ON_TIER(NAME)(int64_t rows, int64_t negatives, float scale, FACTOR *restrict logits,                       \
                          const float *restrict shift, const int64_t *restrict hit, float *restrict target,            \
                          float *restrict nats, float *restrict grad_shift, float *restrict scratch) {                 \
        for (int64_t row = 0; row < rows; row++)                                                                       \
            if (hit[row] < -1 || hit[row] >= negatives) return 3;                                                      \
        for (int64_t row = 0; row < rows; row++) {                                                                     \
            float highest = target[row];                                                                               \
            for (int64_t k = 0; k < negatives; k++) scratch[k] = READ(logits[k]) + shift[k];                           \
            if (hit[row] >= 0) scratch[hit[row]] = -1e30f;                                                             \
            for (int64_t k = 0; k < negatives; k++) highest = scratch[k] > highest ? scratch[k] : highest;             \
            float own = exponential(target[row] - highest), sum = own;                                                 \
            for (int64_t k = 0; k < negatives; k++) scratch[k] = exponential(scratch[k] - highest);                    \
            if (hit[row] >= 0) scratch[hit[row]] = 0.0f;                                                               \
            sum += total(scratch, negatives);                                                                          \
            nats[row] = logf(sum) + highest - target[row];                                                             \
            float share = scale / sum;                                                                                 \
            for (int64_t k = 0; k < negatives; k++) {                                                                  \
                logits[k] = WRITE(scratch[k] * share);                                                                 \
                grad_shift[k] += scratch[k] * share;                                                                   \
            }                                                                                                          \
            target[row] = own * share - scale;                                                                         \
            logits += negatives;                                                                                       \
        }                                                                                                              \
        return 0;                                                                                                      \
    }

/* Sixteen sums side by side, in a fixed order: as fast as vectors add, and the same on every processor. */
INLINE float total(const float *values, int64_t count) {
    float sums[16] = {0};
    int64_t k = 0;
    for (; k + 16 <= count; k += 16)
        for (int64_t lane = 0; lane < 16; lane++) sums[lane] += values[k + lane];
    float sum = 0.0f;
    for (; k < count; k++) sum += values[k];
    for (int64_t lane = 0; lane < 16; lane++) sum += sums[lane];
    return sum;
}

SAMPLED_SOFTMAX(sampled_softmax_f32, float, AS_IT_IS, AS_IT_IS)
SAMPLED_SOFTMAX(sampled_softmax_bf16, uint16_t, from_bfloat16, to_bfloat16)
