#include "processor.h"

#include <string.h>

#if ON_X86
#include <cpuid.h>
#if WITH_AMX
#include <sys/syscall.h>
#include <unistd.h>

/* Whether Linux lets this process use tiles: it has to be asked, because it keeps 8 KB more of each thread that does.
 * Source: Linux, Documentation/arch/x86/xstate.rst. */
static int may_use_tiles(void) {
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILE_DATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA) == 0;
}
#endif

/* The registers that the operating system keeps when it switches between processes (XCR0). */
static uint64_t kept_registers(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static int all(uint32_t found, uint32_t wanted) { return (found & wanted) == wanted; }
#define BIT(n) (1u << (n))

static int is_intel(void) {
    uint32_t a, b, c, d;
    return __get_cpuid(0, &a, &b, &c, &d) && b == 0x756e6547; /* "Genu" of "GenuineIntel" */
}

/* Bit numbers: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID. */
static int64_t detected(void) {
    uint32_t a, b, c, d, d7, c1, most, features = 0;
    if (!__get_cpuid(1, &a, &b, &c1, &d)) return 0;
    if (!all(c1, BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29))) return 0; /* FMA, MOVBE, OSXSAVE, AVX, F16C */
    uint64_t kept = kept_registers();
    if ((kept & 0x6) != 0x6) return 0;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !all(c, BIT(5))) return 0; /* LZCNT */
    if (!__get_cpuid_count(7, 0, &most, &b, &c, &d7)) return 0;
    if (!all(b, BIT(3) | BIT(5) | BIT(8))) return 0; /* BMI1, AVX2, BMI2 */
    features = HAS_AVX2;
    uint32_t more = 0, unused;
    if (most >= 1) __get_cpuid_count(7, 1, &more, &unused, &unused, &unused);
    if (more & BIT(4)) features |= HAS_AVX_VNNI;
    if ((kept & 0xe6) != 0xe6 || !all(b, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31))) return features;
#ifndef NO_AVX512
    features |= HAS_AVX512;
    /* An Intel Xeon multiplies half as many of these factors in a second as of float32's: widening them is faster. */
    if (more & BIT(5) && !is_intel()) features |= HAS_AVX512_BF16;
    if (c & BIT(11)) features |= HAS_AVX512_VNNI;
#if WITH_AMX
    int has_tiles = (kept & 0x60000) == 0x60000 && all(d7, BIT(22) | BIT(24) | BIT(25)); /* BF16, TILE, INT8 */
    if (more & BIT(5) && c & BIT(11) && has_tiles && may_use_tiles()) features |= HAS_AMX;
#endif
#endif
    return features;
}

#elif ON_ARM
#if defined(__linux__)
#include <sys/auxv.h>

/* Bit numbers: Linux, arch/arm64/include/uapi/asm/hwcap.h, ASIMDDP and BF16. */
static int64_t detected(void) {
    int64_t features = HAS_NEON;
    if (getauxval(AT_HWCAP) & 1ul << 20) features |= HAS_NEON_DOT;
    if (getauxval(AT_HWCAP2) & 1ul << 14) features |= HAS_NEON_BF16;
    return features;
}
#elif defined(__APPLE__)
#include <sys/sysctl.h>

static int has(const char *name) {
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, NULL, 0) == 0 && value;
}

static int64_t detected(void) {
    return HAS_NEON | (has("hw.optional.arm.FEAT_DotProd") ? HAS_NEON_DOT : 0) |
           (has("hw.optional.arm.FEAT_BF16") ? HAS_NEON_BF16 : 0);
}
#else
static int64_t detected(void) { return HAS_NEON; }
#endif

#else
static int64_t detected(void) { return 0; }
#endif

/* Whether Intel made the processor. */
EXPORTED int64_t elmo_is_intel(void) {
#if ON_X86
    return is_intel();
#else
    return 0;
#endif
}

/* By name, what is allowed up to there. */
static const struct {
    const char *name;
    int64_t features;
} limits[] = {
    {"none", 0},
    {"sse", 0},
    {"avx2", HAS_AVX2},
    {"avxvnni", HAS_AVX2 | HAS_AVX_VNNI},
    {"avx512base", HAS_AVX2 | HAS_AVX_VNNI | HAS_AVX512},
    {"avx512", HAS_AVX2 | HAS_AVX_VNNI | HAS_AVX512 | HAS_AVX512_BF16 | HAS_AVX512_VNNI},
    {"amx", HAS_AVX2 | HAS_AVX_VNNI | HAS_AVX512 | HAS_AVX512_BF16 | HAS_AVX512_VNNI | HAS_AMX},
    {"neon", HAS_NEON},
    {"neondot", HAS_NEON | HAS_NEON_DOT},
    {"neonbf16", HAS_NEON | HAS_NEON_DOT | HAS_NEON_BF16},
};

enum { UNKNOWN = -1 };
static int64_t allowed = -1, found = UNKNOWN; /* bits of all features; not asked yet */

int64_t elmo_features(void) {
    int64_t features = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (features == UNKNOWN) {
        features = detected();
        __atomic_store_n(&found, features, __ATOMIC_RELAXED);
    }
    return features & __atomic_load_n(&allowed, __ATOMIC_RELAXED);
}

/* Use no instructions beyond those of `name`, or all there are ("all"). 0; -1 if the name is none of `limits`. Not
 * while another thread computes. */
EXPORTED int64_t elmo_limit_instructions(const char *name) {
    int64_t chosen = strcmp(name, "all") == 0 ? -1 : UNKNOWN - 1;
    for (unsigned k = 0; k < sizeof limits / sizeof *limits; k++)
        if (strcmp(name, limits[k].name) == 0) chosen = limits[k].features;
    if (chosen < UNKNOWN) return -1;
    __atomic_store_n(&allowed, chosen, __ATOMIC_RELAXED);
    return 0;
}

/* What is used here, as people read it: "AVX-512, BF16, VNNI". */
EXPORTED const char *elmo_instructions(void) {
    int64_t features = elmo_features();
    if (features & HAS_AMX) return "AVX-512, VNNI, AMX";
    if (features & HAS_AVX512) {
        static const char *const names[] = {"AVX-512", "AVX-512, BF16", "AVX-512, VNNI", "AVX-512, BF16, VNNI"};
        return names[(features & HAS_AVX512_BF16 ? 1 : 0) + (features & HAS_AVX512_VNNI ? 2 : 0)];
    }
    if (features & HAS_AVX2) return features & HAS_AVX_VNNI ? "AVX2, VNNI" : "AVX2";
    if (features & HAS_NEON_BF16) return features & HAS_NEON_DOT ? "NEON, dot product, BF16" : "NEON, BF16";
    if (features & HAS_NEON) return features & HAS_NEON_DOT ? "NEON, dot product" : "NEON";
    return "none";
}

/* Whether bfloat16 factors are multiplied as they are, and faster than float32's. */
EXPORTED int64_t elmo_multiplies_bfloat16(void) {
    return (elmo_features() & (HAS_AMX | HAS_AVX512_BF16 | HAS_NEON_BF16)) != 0;
}

#ifndef SOURCE_HASH
#define SOURCE_HASH "unknown"
#endif

/* The hash of the sources this was built from (build.py). */
EXPORTED const char *elmo_source_hash(void) { return SOURCE_HASH; }
