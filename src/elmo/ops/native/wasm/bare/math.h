/* What the kernels need of math.h, where there is no C library. */
#define INFINITY __builtin_inff()
