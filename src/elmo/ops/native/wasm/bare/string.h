/* What the kernels need of string.h, where there is no C library: see bare.c. */
#ifndef ELMO_BARE_STRING_H
#define ELMO_BARE_STRING_H
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

#endif
