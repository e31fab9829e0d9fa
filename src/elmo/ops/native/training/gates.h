/* The gate passes of the projected LSTM, each fused into one loop over memory. Products between them take float32 or
 * bfloat16 factors; everything in here is float32 arithmetic.
 *
 * Specification and oracle: ops/projected_lstm/reference.py and the torch passes of gate_passes.py. Gate columns of a
 * row stand in the order input, forget, output, candidate.
 */

/* share, recurrent (rows, 4 size): the input's and the state's shares of the gates' inputs. bias (4 size): the third.
 * before, after (rows, size): the cells. gates (rows, 4 size). squashed: tanh(after). output: o * tanh(after). */
#define FORWARD(NAME, FACTOR, READ, WRITE)                                                                             \
    int64_t ON_TIER(NAME)(int64_t rows, int64_t size, float clip, const FACTOR *restrict share,                        \
                          const FACTOR *restrict recurrent, const float *restrict bias, const float *restrict before,  \
                          float *restrict gates, float *restrict after, float *restrict squashed,                      \
                          FACTOR *restrict output) {                                                                   \
        for (int64_t row = 0; row < rows; row++) {                                                                     \
            for (int64_t k = 0; k < size; k++) {                                                                       \
                const int64_t at_f = size + k, at_o = 2 * size + k, at_j = 3 * size + k;                               \
                float i = logistic(READ(share[k]) + bias[k] + READ(recurrent[k]));                                     \
                float f = logistic(READ(share[at_f]) + bias[at_f] + READ(recurrent[at_f]));                            \
                float o = logistic(READ(share[at_o]) + bias[at_o] + READ(recurrent[at_o]));                            \
                float j = hyperbolic(READ(share[at_j]) + bias[at_j] + READ(recurrent[at_j]));                          \
                float cell = f * before[k] + i * j;                                                                    \
                cell = cell > clip ? clip : cell;                                                                      \
                cell = cell < -clip ? -clip : cell;                                                                    \
                float tanh_cell = hyperbolic(cell);                                                                    \
                gates[k] = i;                                                                                          \
                gates[at_f] = f;                                                                                       \
                gates[at_o] = o;                                                                                       \
                gates[at_j] = j;                                                                                       \
                after[k] = cell;                                                                                       \
                squashed[k] = tanh_cell;                                                                               \
                output[k] = WRITE(o * tanh_cell);                                                                      \
            }                                                                                                          \
            share += 4 * size, recurrent += 4 * size, gates += 4 * size;                                               \
            before += size, after += size, squashed += size, output += size;                                           \
        }                                                                                                              \
        return 0;                                                                                                      \
    }

/* One step back in time. grad_output (rows, size): gradient of o * tanh(c). grad_cell (rows, size): gradient of the
 * cell after the step, replaced by that of the cell before it. grad_gates (rows, 4 size): gradient of the gates'
 * inputs. grad_bias (4 size): grad_gates is added up over the rows here. A clipped cell passes no gradient.
 *
 * clip, here and above: NaN if there is none. */
#define BACKWARD(NAME, FACTOR, READ, WRITE)                                                                            \
    int64_t ON_TIER(NAME)(int64_t rows, int64_t size, float clip, const float *restrict gates,                         \
                          const float *restrict before, const float *restrict after, const float *restrict squashed,   \
                          const FACTOR *restrict grad_output, float *restrict grad_cell, FACTOR *restrict grad_gates,  \
                          float *restrict grad_bias) {                                                                 \
        for (int64_t row = 0; row < rows; row++) {                                                                     \
            for (int64_t k = 0; k < size; k++) {                                                                       \
                float i = gates[k], f = gates[size + k], o = gates[2 * size + k], j = gates[3 * size + k];             \
                float tanh_cell = squashed[k], cell = after[k], incoming = READ(grad_output[k]);                       \
                float through = grad_cell[k] + incoming * o * (1.0f - tanh_cell * tanh_cell);                          \
                through = (cell >= clip || cell <= -clip) ? 0.0f : through;                                            \
                float grad_i = through * j * i * (1.0f - i);                                                           \
                float grad_f = through * before[k] * f * (1.0f - f);                                                   \
                float grad_o = incoming * tanh_cell * o * (1.0f - o);                                                  \
                float grad_j = through * i * (1.0f - j * j);                                                           \
                grad_cell[k] = through * f;                                                                            \
                grad_gates[k] = WRITE(grad_i);                                                                         \
                grad_gates[size + k] = WRITE(grad_f);                                                                  \
                grad_gates[2 * size + k] = WRITE(grad_o);                                                              \
                grad_gates[3 * size + k] = WRITE(grad_j);                                                              \
                grad_bias[k] += grad_i;                                                                                \
                grad_bias[size + k] += grad_f;                                                                         \
                grad_bias[2 * size + k] += grad_o;                                                                     \
                grad_bias[3 * size + k] += grad_j;                                                                     \
            }                                                                                                          \
            gates += 4 * size, before += size, after += size, squashed += size;                                        \
            grad_output += size, grad_cell += size, grad_gates += 4 * size;                                            \
        }                                                                                                              \
        return 0;                                                                                                      \
    }

FORWARD(gates_forward_f32, float, AS_IT_IS, AS_IT_IS)
FORWARD(gates_forward_bf16, uint16_t, from_bfloat16, to_bfloat16)
BACKWARD(gates_backward_f32, float, AS_IT_IS, AS_IT_IS)
BACKWARD(gates_backward_bf16, uint16_t, from_bfloat16, to_bfloat16)
