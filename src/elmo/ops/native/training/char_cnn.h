/* The char CNN's maximum over positions, forward and back.
 *
 * Specification and oracle: `char_cnn` in elmo/reference.py, and autograd. Only the window that gave a filter's maximum
 * passes a gradient, so the way back is one short addition for each token and filter instead of products over all
 * windows. Of equal maxima the first counts.
 */

/* scores (types, positions, filters) -> best (types, filters) and the position it came from. */
int64_t ON_TIER(max_over_positions)(int64_t types, int64_t positions, int64_t filters, const float *restrict scores,
                                    float *restrict best, int32_t *restrict place) {
    if (positions < 1) return 1;
    for (int64_t type = 0; type < types; type++) {
        for (int64_t k = 0; k < filters; k++) {
            best[k] = scores[k];
            place[k] = 0;
        }
        for (int64_t position = 1; position < positions; position++) {
            const float *row = scores + position * filters;
            for (int64_t k = 0; k < filters; k++) {
                int better = row[k] > best[k] || row[k] != row[k];
                best[k] = better ? row[k] : best[k];
                place[k] = better ? (int32_t)position : place[k];
            }
        }
        scores += positions * filters, best += filters, place += filters;
    }
    return 0;
}

/* grad (types, filters): gradient of the maxima. vectors, grad_vectors (types, columns * dim); a window is `span` =
 * width * dim numbers from position * dim on. kernel, grad_kernel (filters, span). Adds to both gradients. */
int64_t ON_TIER(max_over_positions_backward)(int64_t types, int64_t row_size, int64_t dim, int64_t span,
                                             int64_t filters, const float *restrict vectors,
                                             const float *restrict kernel, const int32_t *restrict place,
                                             const float *restrict grad, float *restrict grad_vectors,
                                             float *restrict grad_kernel) {
    for (int64_t type = 0; type < types; type++) {
        for (int64_t k = 0; k < filters; k++) {
            if (place[k] < 0 || place[k] * dim > row_size - span) return 3;
            const float *window = vectors + place[k] * dim, *weight = kernel + k * span;
            float *grad_window = grad_vectors + place[k] * dim, *grad_weight = grad_kernel + k * span, scale = grad[k];
            if (scale == 0.0f) continue;
            for (int64_t n = 0; n < span; n++) {
                grad_weight[n] += scale * window[n];
                grad_window[n] += scale * weight[n];
            }
        }
        vectors += row_size, grad_vectors += row_size, place += filters, grad += filters;
    }
    return 0;
}
