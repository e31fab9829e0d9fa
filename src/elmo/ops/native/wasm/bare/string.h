/* What the kernels need of string.h, where there is no C library (bare.c). The compiler knows what these do, so that a few
 * bytes are moved without a call. */
#ifndef ELMO_BARE_STRING_H
#define ELMO_BARE_STRING_H
#include <stddef.h>

#define memcpy(to, from, size) __builtin_memcpy(to, from, size)
#define memset(to, value, size) __builtin_memset(to, value, size)

#endif
