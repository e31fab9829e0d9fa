/* Each function is compiled for several instruction sets; the right one is chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) && !defined(ONE_TARGET)
#define MANY_TARGETS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MANY_TARGETS
#endif
