/* Every set of kernels there is, and what all of them need. */
#ifndef ELMO_KINDS_H
#define ELMO_KINDS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../training/arithmetic.h"
#include "layer.h"
#include "work.h"

extern const Kernels *const elmo_avx512_float32, *const elmo_avx512_bfloat16, *const elmo_avx512_stored_bfloat16,
                                                                                  *const elmo_avx512_int8,
                                                                                      *const elmo_avx512_int8_vnni;
extern const Kernels *const elmo_amx_bfloat16, *const elmo_amx_int8;
extern const Kernels *const elmo_avx2_float32, *const elmo_avx2_stored_bfloat16, *const elmo_avx2_int8,
                                                                                     *const elmo_avx2_int8_vnni;
extern const Kernels *const elmo_neon_float32,
    *const elmo_neon_bfloat16, *const elmo_neon_stored_bfloat16, *const elmo_neon_int8, *const elmo_neon_int8_dot;

/* The best that this processor has for a kind; NULL if there is none. */
const Kernels *elmo_kernels(int64_t kind);

#endif
