/* The gate passes of the alternating highway LSTM, each fused into one loop over memory.
 *
 * Specification and oracle: ops/alternating_lstm/reference.py and the torch passes of packed.py there. A row of
 * gates has the blocks input, forget, candidate, output, highway, linear.
 */

/* The blocks of a row don't overlap; with six of them compilers give up finding that out at run time. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

/* gates (rows, 6 size): the input's share of the gates' inputs, replaced by the gates. recurrent (rows, 5 size): the
 * state's share. hidden, cell (rows, size): the state, advanced by one step. before: the cell as it was. squashed:
 * tanh of the new cell. output: the new hidden. */
int64_t ON_TIER(highway_forward)(int64_t rows, int64_t size, float *restrict gates, const float *restrict recurrent,
                                 float *restrict hidden, float *restrict cell, float *restrict before,
                                 float *restrict squashed, float *restrict output) {
    for (int64_t row = 0; row < rows; row++) {
        INDEPENDENT
        for (int64_t n = 0; n < size; n++) {
            float i = logistic(gates[n] + recurrent[n]);
            float f = logistic(gates[size + n] + recurrent[size + n]);
            float g = hyperbolic(gates[2 * size + n] + recurrent[2 * size + n]);
            float o = logistic(gates[3 * size + n] + recurrent[3 * size + n]);
            float r = logistic(gates[4 * size + n] + recurrent[4 * size + n]);
            float k = gates[5 * size + n];
            float old = cell[n], now = f * old + i * g;
            float tanh_cell = hyperbolic(now);
            float h = r * (o * tanh_cell) + (1.0f - r) * k;
            gates[n] = i;
            gates[size + n] = f;
            gates[2 * size + n] = g;
            gates[3 * size + n] = o;
            gates[4 * size + n] = r;
            before[n] = old;
            cell[n] = now;
            squashed[n] = tanh_cell;
            hidden[n] = h;
            output[n] = h;
        }
        gates += 6 * size, recurrent += 5 * size;
        hidden += size, cell += size, before += size, squashed += size, output += size;
    }
    return 0;
}

/* One step back in time. grad_output, grad_hidden (rows, size): both parts of the gradient of the hidden after the
 * step. grad_cell (rows, size): gradient of the cell after the step, replaced by that of the cell before it. grad_gates
 * (rows, 6 size): gradient of the gates' inputs. */
int64_t ON_TIER(highway_backward)(int64_t rows, int64_t size, const float *restrict gates, const float *restrict before,
                                  const float *restrict squashed, const float *restrict grad_output,
                                  const float *restrict grad_hidden, float *restrict grad_cell,
                                  float *restrict grad_gates) {
    for (int64_t row = 0; row < rows; row++) {
        INDEPENDENT
        for (int64_t n = 0; n < size; n++) {
            float i = gates[n], f = gates[size + n], g = gates[2 * size + n], o = gates[3 * size + n];
            float r = gates[4 * size + n], k = gates[5 * size + n], tanh_cell = squashed[n];
            float incoming = grad_output[n] + grad_hidden[n];
            float of_cell_output = incoming * r;
            float through = grad_cell[n] + of_cell_output * o * (1.0f - tanh_cell * tanh_cell);
            grad_gates[n] = through * g * i * (1.0f - i);
            grad_gates[size + n] = through * before[n] * f * (1.0f - f);
            grad_gates[2 * size + n] = through * i * (1.0f - g * g);
            grad_gates[3 * size + n] = of_cell_output * tanh_cell * o * (1.0f - o);
            grad_gates[4 * size + n] = incoming * (o * tanh_cell - k) * r * (1.0f - r);
            grad_gates[5 * size + n] = incoming * (1.0f - r);
            grad_cell[n] = through * f;
        }
        gates += 6 * size, grad_gates += 6 * size;
        before += size, squashed += size, grad_output += size, grad_hidden += size, grad_cell += size;
    }
    return 0;
}
