/* The exported passes: each call goes to the best tier that the processor has. */
#include "../processor/processor.h"
#include "passes.h"

#if ON_X86
#define DECLARE(NAME, PARAMETERS, ARGUMENTS)                                                                           \
    void NAME##_avx512 PARAMETERS, NAME##_avx2 PARAMETERS, NAME##_plain PARAMETERS;
#define CHOOSE(NAME, PARAMETERS, ARGUMENTS)                                                                            \
    EXPORTED void elmo_##NAME PARAMETERS {                                                                             \
        int64_t features = elmo_features();                                                                            \
        if (features & HAS_AVX512)                                                                                     \
            NAME##_avx512 ARGUMENTS;                                                                                   \
        else if (features & HAS_AVX2)                                                                                  \
            NAME##_avx2 ARGUMENTS;                                                                                     \
        else                                                                                                           \
            NAME##_plain ARGUMENTS;                                                                                    \
    }
#else
#define DECLARE(NAME, PARAMETERS, ARGUMENTS) void NAME##_plain PARAMETERS;
#define CHOOSE(NAME, PARAMETERS, ARGUMENTS)                                                                            \
    EXPORTED void elmo_##NAME PARAMETERS { NAME##_plain ARGUMENTS; }
#endif

PASSES(DECLARE)
PASSES(CHOOSE)
