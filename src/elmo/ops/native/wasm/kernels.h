/* The kernels of each kind, by the numbers that JavaScript gives them. */
#ifndef ELMO_WASM_KERNELS_H
#define ELMO_WASM_KERNELS_H

#include "../inference/layer.h"

enum { FLOAT32, STORED_BFLOAT16, STORED_INT8, INT8 };

int64_t elmo_fused_lstm_work_bytes(const Layer *layer, const Run *run);
int64_t elmo_encode_work_bytes(const Encoder *encoder);
int64_t elmo_product_work_bytes(const Packed *matrix);

void elmo_run_layer(int kind, const Layer *layer, const Run *run);                        /* not STORED_BFLOAT16 */
void elmo_encode(int kind, const Encoder *encoder, const int32_t *ids, int64_t count, char *work,
                 float *out);                                                             /* FLOAT32, STORED_BFLOAT16 */
void elmo_multiply(int kind, const Packed *matrix, const float *bias, const float *row, int64_t inner, char *work,
                   float *out);                                                           /* FLOAT32, STORED_INT8 */

#endif
