#include "../processor/processor.h"

#if ON_X86
USE(X86_64_V4)
#define ON_TIER(name) name##_avx512
#include "all_passes.h"
USE_END
#endif
