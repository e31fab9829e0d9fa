/* Every pass, for the tier that ON_TIER names. Included once for each. */
#include "arithmetic.h"
#include "passes.h"

#define DECLARE(NAME, PARAMETERS, ARGUMENTS) int64_t ON_TIER(NAME) PARAMETERS;
PASSES(DECLARE)

#include "char_cnn.h"
#include "gates.h"
#include "sampled_softmax.h"
