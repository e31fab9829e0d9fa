/* For processors without any of the instruction sets asked for; NEON is part of every 64-bit ARM. */
#define ON_TIER(name) name##_plain
#include "all_passes.h"
