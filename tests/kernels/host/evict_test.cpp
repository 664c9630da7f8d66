#include "kernels/host/evict.h"

#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.h"

namespace memwall::kernels {
namespace {

TEST_CASE("What is evicted keeps its bytes, wherever it begins and ends", "[kernels]") {
    ThreadTeam team(2);
    const unsigned seed = 5;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(100'003), copy;
    for (int round = 0; round < 50; ++round) {
        for (std::uint8_t& b : bytes)
            b = static_cast<std::uint8_t>(random());  // changed lines are written back
        copy = bytes;
        const std::size_t first = random() % bytes.size(), n = random() % (bytes.size() - first + 1);
        const auto part = std::as_bytes(std::span(bytes)).subspan(first, n);
        if (round % 2 == 0)
            evict(part);
        else
            evict(part, team);
        REQUIRE(bytes == copy);
    }
    evict({});
    evict({}, team);
}

}  // namespace
}  // namespace memwall::kernels
