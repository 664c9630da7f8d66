// The probe loops do what they claim to time.
#include <cstring>
#include <random>
#include <vector>

#include "devices/isa.h"
#include "kernels/host/huge_buffer.h"
#include "kernels/probe/choose_loops.h"
#include "tests/catch.h"

namespace memwall::kernels {
namespace {

constexpr std::size_t kBytes = 1 << 16;

TEST_CASE("Every way of reading loads every byte once", "[kernels]") {
    HugeBuffer buffer(kBytes);
    const unsigned seed = 11;
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    std::uint64_t* words = buffer.as<std::uint64_t>();
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < kBytes / 8; ++i) expected ^= words[i] = random();
    for (const ProbeLoops* loops : all_probe_loops(devices::host_isa()))
        for (const ReadPattern& pattern : kReadPatterns) {
            INFO(loops->isa << ", " << pattern.name);
            CHECK(loops->read(words, kBytes, pattern) == expected);
            for (const std::size_t at : {std::size_t{0}, std::size_t{4096}, kBytes / 8 - 1}) {
                words[at] ^= 1;  // any byte counts
                CHECK(loops->read(words, kBytes, pattern) == (expected ^ 1));
                words[at] ^= 1;
            }
        }
}

TEST_CASE("Copy copies, triad adds, with both kinds of stores", "[kernels]") {
    HugeBuffer a(kBytes), b(kBytes), to(kBytes);
    for (std::size_t i = 0; i < kBytes / 4; ++i) {
        a.as<float>()[i] = static_cast<float>(i);
        b.as<float>()[i] = static_cast<float>(i % 7);
    }
    for (const ProbeLoops* loops : all_probe_loops(devices::host_isa()))
        for (const bool streaming : {false, true}) {
            INFO(loops->isa << (streaming ? ", streaming" : ", plain"));
            std::memset(to.data(), 0, kBytes);
            loops->copy(to.data(), a.data(), kBytes, streaming);
            CHECK(std::memcmp(to.data(), a.data(), kBytes) == 0);
            loops->triad(to.as<float>(), a.as<float>(), b.as<float>(), kBytes, streaming);
            int wrong = 0;
            for (std::size_t i = 0; i < kBytes / 4; ++i)
                wrong += to.as<float>()[i] != static_cast<float>(i) + 3.0f * static_cast<float>(i % 7);
            CHECK(wrong == 0);
        }
}

TEST_CASE("Peak loops count their operations", "[kernels]") {
    for (const ProbeLoops* loops : all_probe_loops(devices::host_isa())) {
        INFO(loops->isa);
        CHECK(loops->fp32_peak(10) > 0);
        CHECK(loops->fp32_peak(20) == 2 * loops->fp32_peak(10));
        CHECK(loops->int8_peak(20) == 2 * loops->int8_peak(10));
    }
}

TEST_CASE("A loop is never offered to a CPU that lacks one of its instructions", "[kernels]") {
    const auto names = [](const std::vector<std::string>& isa) {
        std::vector<std::string> list;
        for (const ProbeLoops* loops : all_probe_loops(isa)) list.emplace_back(loops->isa);
        return list;
    };
    CHECK(names({}) == std::vector<std::string>{"generic"});
#if defined(__x86_64__)
    CHECK(names({"avx", "avx2"}) == std::vector<std::string>{"generic"});  // no fma
    CHECK(names({"avx2", "fma"}) == std::vector<std::string>{"avx2", "generic"});
    CHECK(names({"avx2", "fma", "avx_vnni"}).front() == "avx_vnni");
    CHECK(names({"avx2", "fma", "avx512f"}).front() == "avx2");
    CHECK(names({"avx2", "fma", "avx512f", "avx512bw"}).front() == "avx512");
    CHECK(names({"avx2", "fma", "avx512f", "avx512bw", "avx512_vnni"}).front() == "avx512_vnni");
#elif defined(__aarch64__)
    CHECK(names({"neon"}).front() == "neon");
    CHECK(names({"neon", "dotprod"}).front() == "dotprod");
#endif
}

}  // namespace
}  // namespace memwall::kernels
