#include "kernels/simd/cpu_features.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace memwall::kernels {

#if defined(__x86_64__)
namespace {
bool bit(std::uint32_t word, int n) {
    return (word >> n & 1) != 0;
}
/// XGETBV is only there when OSXSAVE is.
std::uint32_t xcr0() {
    std::uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
}  // namespace

CpuFeatures cpu_features() {
    CpuFeatures f;
    std::uint32_t a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return f;
    f.fma = bit(c, 12);
    f.f16c = bit(c, 29);
    const bool avx = bit(c, 28);
    if (bit(c, 27)) {
        const std::uint32_t saved = xcr0();
        f.os_ymm = avx && (saved & 0x6) == 0x6;
        f.os_zmm = f.os_ymm && (saved & 0xe0) == 0xe0;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return f;
    f.avx2 = bit(b, 5);
    f.avx512f = bit(b, 16);
    f.avx512dq = bit(b, 17);
    f.avx512bw = bit(b, 30);
    f.avx512vl = bit(b, 31);
    f.avx512_vnni = bit(c, 11);
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) f.avx_vnni = bit(a, 4);
    return f;
}

bool cpu_made_by_amd() {
    std::uint32_t a = 0, name[3] = {};
    if (__get_cpuid(0, &a, &name[0], &name[2], &name[1]) == 0) return false;
    return std::memcmp(name, "AuthenticAMD", 12) == 0 || std::memcmp(name, "HygonGenuine", 12) == 0;
}
#elif defined(__aarch64__) && defined(__linux__)
CpuFeatures cpu_features() {
    constexpr unsigned long kDotProduct = 1ul << 20;  // HWCAP_ASIMDDP of the kernel's asm/hwcap.h
    CpuFeatures f;
    f.neon_dotprod = (getauxval(AT_HWCAP) & kDotProduct) != 0;
    return f;
}
#else
CpuFeatures cpu_features() {
    return {};
}
#endif
#if !defined(__x86_64__)
bool cpu_made_by_amd() {
    return false;
}
#endif

}  // namespace memwall::kernels
