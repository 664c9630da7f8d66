#include "kernels/host/evict.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace memwall::kernels {
namespace {
constexpr std::size_t kGrain = 4096;  // a thread's share comes in whole pages

#if defined(__x86_64__)
bool supported() {
    constexpr unsigned kClflushopt = 1u << 23;  // CPUID leaf 7, EBX
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & kClflushopt) != 0;
}
std::size_t line_bytes() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid(1, &a, &b, &c, &d);
    const std::size_t line = (b >> 8 & 0xff) * 8;  // CPUID leaf 1, EBX
    return line > 0 ? line : 64;                   // some hypervisors leave it out
}
__attribute__((target("clflushopt"))) void evict_lines(const std::byte* first, const std::byte* end,
                                                       std::size_t line) {
    // The intrinsic takes a pointer to what it may write back; nothing is changed.
    for (const std::byte* p = first; p < end; p += line) _mm_clflushopt(const_cast<std::byte*>(p));
    _mm_mfence();
}
#elif defined(__aarch64__) && defined(__linux__)
bool supported() {
    return true;
}
std::size_t line_bytes() {
    std::uint64_t type = 0;  // CTR_EL0: DminLine, log2 of the smallest line in words
    __asm__("mrs %0, ctr_el0" : "=r"(type));
    return std::size_t{4} << (type >> 16 & 0xf);
}
void evict_lines(const std::byte* first, const std::byte* end, std::size_t line) {
    for (const std::byte* p = first; p < end; p += line) __asm__ volatile("dc civac, %0" ::"r"(p) : "memory");
    __asm__ volatile("dsb ish" ::: "memory");
}
#else
bool supported() {
    return false;
}
std::size_t line_bytes() {
    return 64;
}
void evict_lines(const std::byte*, const std::byte*, std::size_t) {}
#endif

}  // namespace

bool can_evict() {
    static const bool can = supported();
    return can;
}

void evict(std::span<const std::byte> memory) {
    if (!can_evict() || memory.empty()) return;
    static const std::size_t line = line_bytes();
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    evict_lines(memory.data() - address % line, memory.data() + memory.size(), line);
}

void evict(std::span<const std::byte> memory, ThreadTeam& team) {
    if (!can_evict()) return;
    team.run([&](int thread) {
        const Range mine = share_of(memory.size() / kGrain, thread, team.threads());
        evict(memory.subspan(mine.first * kGrain, mine.size() * kGrain));
    });
    evict(memory.subspan(memory.size() / kGrain * kGrain));
}

}  // namespace memwall::kernels
