#ifndef ELMO_ARITHMETIC_H
#define ELMO_ARITHMETIC_H
/* Functions of one number that compilers turn into vector instructions. */
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* exp to about one unit in the last place; x is limited so that the result stays a normal number. */
INLINE float exponential(float x) {
    x = x > 87.0f ? 87.0f : x;
    x = x < -87.0f ? -87.0f : x;
    float shifted = x * 1.44269504088896341f + 12582912.0f; /* the nearest whole number stands in the low bits */
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693145751953125f - n * 1.42860682030941723e-6f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, 4);
    return p * scale;
}

INLINE float logistic(float x) { return 1.0f / (1.0f + exponential(-x)); }

/* tanh. Near 0 the quotient would lose the digits of a small result, so a polynomial takes its place there.
 * Source of the coefficients, here and in `exponential`: S. Moshier, Cephes mathematical library, single precision. */
INLINE float hyperbolic(float x) {
    float size = x < 0.0f ? -x : x;
    float far = 1.0f - 2.0f / (1.0f + exponential(2.0f * size));
    float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float near = p * z * x + x;
    far = x < 0.0f ? -far : far;
    return size < 0.625f ? near : far;
}

INLINE float from_bfloat16(uint16_t value) {
    uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, 4);
    return result;
}

INLINE uint16_t to_bfloat16(float value) { /* to nearest, ties to even; a NaN stays one */
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (uint16_t)(value != value ? 0x7fc0u : rounded);
}

#define AS_IT_IS(value) (value)
#endif
