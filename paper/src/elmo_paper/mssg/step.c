/* Multi-sense skip-gram: negative sampling and AdaGrad, one token after the other.
 *
 * Specification and oracle: `step_plainly` of train.py.
 */

#include <math.h>
#include <stdint.h>

static inline float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

/* Sixteen sums side by side, which a compiler makes one instruction of. */
static inline float inner(const float *one, const float *other, int64_t count) {
    float sums[16] = {0}, sum = 0.0f;
    int64_t k = 0;
    for (; k + 16 <= count; k += 16)
        for (int64_t lane = 0; lane < 16; lane++) sums[lane] += one[k + lane] * other[k + lane];
    for (; k < count; k++) sum += one[k] * other[k];
    for (int64_t lane = 0; lane < 16; lane++) sum += sums[lane];
    return sum;
}

/* The place of the last token around `place` towards `step` (-1 or 1), at most `radius` away, in its sentence. */
static inline int64_t reach(const int32_t *ids, int64_t tokens, int64_t place, int64_t step, int64_t radius) {
    while (radius-- > 0 && place + step >= 0 && place + step < tokens && ids[place + step] >= 0) place += step;
    return place;
}

/* ids (tokens): words; -1 between sentences. radius (tokens): how far each looks. drawn (negatives): `per_pair` words for
 * each of the pairs of a token and one near it, in order. starts, limits, used (words): the first of a word's rows, how
 * many it may have, and how many it has. values, squares (words, dim): the global vectors and AdaGrad's sums; sense_*
 * (rows, dim) those of the senses. centroids (rows, dim): means of `counts` contexts. scratch (2 dim). */
void multi_sense(int64_t tokens, int64_t dim, int64_t per_pair, float rate, float delta,
                 float new_below, const int32_t *restrict ids, const int32_t *restrict radius,
                 const int32_t *restrict drawn, const int64_t *restrict starts, const int32_t *restrict limits,
                 int32_t *restrict used, float *restrict values, float *restrict squares,
                 float *restrict sense_values, float *restrict sense_squares, float *restrict centroids,
                 float *restrict counts, float *restrict scratch) {
    float *context = scratch, *grad = scratch + dim;
    for (int64_t place = 0; place < tokens; place++) {
        if (ids[place] < 0) continue;
        int64_t word = ids[place];
        int64_t first = reach(ids, tokens, place, -1, radius[place]), last = reach(ids, tokens, place, 1, radius[place]);
        if (first == last) continue;

        for (int64_t n = 0; n < dim; n++) context[n] = 0.0f;
        for (int64_t near = first; near <= last; near++) {
            if (near == place) continue;
            const float *row = values + ids[near] * dim;
            for (int64_t n = 0; n < dim; n++) context[n] += row[n];
        }
        for (int64_t n = 0; n < dim; n++) context[n] /= (float)(last - first);

        int64_t sense = 0;
        if (limits[word] > 1 || used[word] < 1) {
            float highest = -2.0f, length = sqrtf(inner(context, context, dim));
            for (int64_t k = 0; k < used[word]; k++) {
                const float *centroid = centroids + (starts[word] + k) * dim;
                float lengths = length * sqrtf(inner(centroid, centroid, dim));
                float cosine = lengths > 0.0f ? inner(centroid, context, dim) / lengths : 0.0f;
                if (cosine > highest) highest = cosine, sense = k;
            }
            if (used[word] < 1 || (highest < new_below && used[word] < limits[word])) sense = used[word]++;
        }
        int64_t chosen = starts[word] + sense;
        float *centroid = centroids + chosen * dim, share = 1.0f / (counts[chosen] += 1.0f);
        for (int64_t n = 0; n < dim; n++) centroid[n] += (context[n] - centroid[n]) * share;

        float *own = sense_values + chosen * dim, *own_squares = sense_squares + chosen * dim;
        for (int64_t near = first; near <= last; near++) {
            if (near == place) continue;
            for (int64_t n = 0; n < dim; n++) grad[n] = 0.0f;
            for (int64_t draw = -1; draw < per_pair; draw++) {
                int64_t target = draw < 0 ? ids[near] : drawn[draw];
                if (draw >= 0 && target == ids[near]) continue;
                float *value = values + target * dim, *square = squares + target * dim;
                float error = (draw < 0 ? 1.0f : 0.0f) - logistic(inner(own, value, dim));
                for (int64_t n = 0; n < dim; n++) {
                    float slope = error * own[n];
                    grad[n] += error * value[n];
                    square[n] += slope * slope;
                    value[n] += rate * slope / (delta + sqrtf(square[n]));
                }
            }
            drawn += per_pair;
            for (int64_t n = 0; n < dim; n++) {
                own_squares[n] += grad[n] * grad[n];
                own[n] += rate * grad[n] / (delta + sqrtf(own_squares[n]));
            }
        }
    }
}
