/* The exported passes: each call goes to the best tier that the processor has. */
#include "../processor/processor.h"
#include "passes.h"

#if ON_X86
#define DECLARE(NAME, PARAMETERS, ARGUMENTS)                                                                           \
    int64_t NAME##_avx512 PARAMETERS, NAME##_avx2 PARAMETERS, NAME##_plain PARAMETERS;
#define CHOOSE(NAME, PARAMETERS, ARGUMENTS)                                                                            \
    EXPORTED int64_t elmo_##NAME PARAMETERS {                                                                          \
        int64_t features = elmo_features();                                                                            \
        if (features & HAS_AVX512) return NAME##_avx512 ARGUMENTS;                                                     \
        return features & HAS_AVX2 ? NAME##_avx2 ARGUMENTS : NAME##_plain ARGUMENTS;                                   \
    }
#else
#define DECLARE(NAME, PARAMETERS, ARGUMENTS) int64_t NAME##_plain PARAMETERS;
#define CHOOSE(NAME, PARAMETERS, ARGUMENTS)                                                                            \
    EXPORTED int64_t elmo_##NAME PARAMETERS { return NAME##_plain ARGUMENTS; }
#endif

PASSES(DECLARE)
PASSES(CHOOSE)
