#include "devices/isa.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace memwall::devices {
namespace {

constexpr std::array<std::string_view, 19> kNames{
    "avx",         "avx2",        "fma",      "f16c",     "avx_vnni", "avx512f", "avx512bw",
    "avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16", "neon",     "fp16",    "dotprod",
    "i8mm",        "bf16",        "sve",      "sve2",     "rvv"};

#if defined(__x86_64__) || defined(__i386__)

/// Features that __builtin_cpu_supports() of older compilers does not know, from CPUID leaf 7. The operating
/// system's consent for AMX (XCR0 bits 17 and 18) is asked for, AVX's is implied by avx2 being there.
void add_from_cpuid(std::vector<std::string>& isa, bool avx2) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (avx2 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1)) isa.push_back("avx_vnni");
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return;  // OSXSAVE
    unsigned xcr0 = 0, high = 0;
    __asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
    if ((xcr0 >> 17 & 3) != 3 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    if (d >> 25 & 1) isa.push_back("amx_int8");
    if (d >> 22 & 1) isa.push_back("amx_bf16");
}

std::vector<std::string> detect() {
    std::vector<std::string> isa;
    const auto add = [&](bool has, const char* name) {
        if (has) isa.push_back(name);
    };
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2");
    add(__builtin_cpu_supports("avx"), "avx");
    add(avx2, "avx2");
    add(__builtin_cpu_supports("fma"), "fma");
    unsigned a = 0, b = 0, c = 0, d = 0;
    add(avx2 && __get_cpuid(1, &a, &b, &c, &d) && (c >> 29 & 1), "f16c");
    add(__builtin_cpu_supports("avx512f"), "avx512f");
    add(__builtin_cpu_supports("avx512bw"), "avx512bw");
    add(__builtin_cpu_supports("avx512vnni"), "avx512_vnni");
    add(__builtin_cpu_supports("avx512bf16"), "avx512_bf16");
    add_from_cpuid(isa, avx2);
    return isa;
}

#elif defined(__aarch64__) && defined(__linux__)

/// Bits of AT_HWCAP and AT_HWCAP2 as the Linux kernel documents them (arch/arm64/include/uapi/asm/hwcap.h);
/// spelt out because older libc headers lack the newer ones.
std::vector<std::string> detect() {
    struct Bit {
        unsigned long auxv;
        int bit;
        const char* name;
    };
    constexpr Bit kBits[] = {{AT_HWCAP, 1, "neon"},   {AT_HWCAP, 10, "fp16"},  {AT_HWCAP, 20, "dotprod"},
                             {AT_HWCAP2, 13, "i8mm"}, {AT_HWCAP2, 14, "bf16"}, {AT_HWCAP, 22, "sve"},
                             {AT_HWCAP2, 1, "sve2"}};
    std::vector<std::string> isa;
    for (const Bit& b : kBits)
        if (getauxval(b.auxv) >> b.bit & 1) isa.push_back(b.name);
    return isa;
}

#else

std::vector<std::string> detect() {
    return {};
}

#endif

}  // namespace

std::span<const std::string_view> known_isa_names() {
    return kNames;
}

void check_isa(const std::string& name, std::string_view place) {
    if (std::find(kNames.begin(), kNames.end(), name) == kNames.end())
        throw Error(std::string(place), fmt::format("unknown instruction set '{}'", name),
                    fmt::format("one of {}", fmt::join(kNames, ", ")));
}

std::vector<std::string> parse_isa(std::string_view text, std::string_view place) {
    std::vector<std::string> isa;
    while (true) {
        const auto plus = text.find('+');
        isa.emplace_back(text.substr(0, plus));
        check_isa(isa.back(), place);
        if (plus == std::string_view::npos) return isa;
        text.remove_prefix(plus + 1);
    }
}

std::vector<std::string> host_isa() {
    static const std::vector<std::string> isa = detect();
    return isa;
}

}  // namespace memwall::devices
