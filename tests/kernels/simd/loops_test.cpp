#include <cstring>

#include "kernels/host/huge_buffer.h"
#include "kernels/simd/kernels.h"
#include "tests/kernels/random_values.h"

using namespace memwall::kernels;
using namespace memwall::kernels::test;

TEST_CASE("read mixes every line, copy copies, triad adds") {
    const std::uint32_t seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937 rng(seed);
    constexpr std::size_t kFloats = 16 * 640;
    const HugeBuffer b(kFloats * 4), c(kFloats * 4);
    for (std::size_t i = 0; i < kFloats; ++i) {
        b.as<float>()[i] = static_cast<float>(rng() % 1000);
        c.as<float>()[i] = static_cast<float>(rng() % 1000);
    }
    for (const Kernels* k : runnable_kernels())
        for (int a = 0; a < kAccessCount; ++a) {
            const auto access = static_cast<Access>(a);
            CAPTURE(k->isa, a);
            const std::uint64_t before = k->read(b.data(), kFloats * 4, access);
            for (const std::size_t i : {std::size_t{0}, kFloats / 2, kFloats - 1}) {
                b.as<std::uint32_t>()[i] ^= 0x40;
                CHECK(k->read(b.data(), kFloats * 4, access) != before);
                b.as<std::uint32_t>()[i] ^= 0x40;
            }
            const HugeBuffer to(kFloats * 4);
            k->copy(to.data(), b.data(), kFloats * 4, access);
            CHECK(std::memcmp(to.data(), b.data(), kFloats * 4) == 0);
            k->triad(to.as<float>(), b.as<float>(), c.as<float>(), 3, kFloats, access);
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < kFloats; ++i)
                wrong += to.as<float>()[i] != b.as<float>()[i] + 3 * c.as<float>()[i];
            CHECK(wrong == 0);
            CHECK(k->peak_int8(10) % (10 * 128) == 0);
            CHECK(k->peak_f32(10) % (10 * 32) == 0);
        }
}
