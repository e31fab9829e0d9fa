#include "../processor/processor.h"

#if ON_X86
USE(X86_64_V3)
#define ON_TIER(name) name##_avx2
#include "all_passes.h"
USE_END
#endif
