/* The two functions of a C library that compilers call by themselves, for more than a few bytes. A loop would be recognized
 * as the function that it is, and call itself: the instructions for whole memories are called for. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    __asm__ volatile("local.get %0\nlocal.get %1\nlocal.get %2\nmemory.copy 0, 0" : : "r"(to), "r"(from), "r"(size));
    return to;
}

void *memset(void *to, int value, size_t size) {
    __asm__ volatile("local.get %0\nlocal.get %1\nlocal.get %2\nmemory.fill 0" : : "r"(to), "r"(value), "r"(size));
    return to;
}
