#include "kernels/panels/kv_page.h"

#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "tests/kernels/random_values.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

namespace {
constexpr KvFormat kKvFormats[] = {KvFormat::f16, KvFormat::int8, KvFormat::int4};
}

TEST_CASE("a page of 64 tokens of 128 + 128 values has the size of KERNELS section 3") {
    CHECK(kv_page_layout(KvFormat::f16, 128, 128).bytes() == 64 * 256 * 2);
    CHECK(kv_page_layout(KvFormat::int8, 128, 128).bytes() == 64 * 256 + 256);  // 8.125 bits
    CHECK(kv_page_layout(KvFormat::int4, 128, 128).bytes() == 64 * 128 + 256);
    CHECK_THROWS_AS(kv_page_layout(KvFormat::int8, 72, 64), Error);
    CHECK_THROWS_AS(kv_page_layout(KvFormat::int8, 0, 64), Error);
    CHECK_THROWS_AS(kv_page_layout(KvFormat::int8, 64, 272), Error);
}

TEST_CASE("tokens written in any order come back within half a step and leave each other alone") {
    const std::uint32_t seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937 rng(seed);
    for (const KvFormat format : kKvFormats)
        for (const int dim : {16, 64, 80, 96, 128, 192, 256}) {
            const int value_dim = dim == 192 ? 128 : dim;
            const KvPageLayout layout = kv_page_layout(format, dim, value_dim);
            std::vector<std::byte> page(layout.bytes()), copy(layout.bytes());
            std::vector<std::vector<float>> keys, values;
            std::vector<int> order(kPageTokens);
            for (int t = 0; t < kPageTokens; ++t) {
                keys.push_back(normal_values(static_cast<std::size_t>(dim), rng));
                values.push_back(normal_values(static_cast<std::size_t>(value_dim), rng));
                order[static_cast<std::size_t>(t)] = t;
            }
            std::shuffle(order.begin(), order.end(), rng);
            for (const int t : order)
                store_token(layout, page.data(), t, keys[static_cast<std::size_t>(t)],
                            values[static_cast<std::size_t>(t)]);
            for (const int t : order) copy_token(layout, page.data(), t, copy.data(), t);
            CAPTURE(static_cast<int>(format), dim);
            CHECK(copy == page);
            std::size_t outside = 0;
            const float step = format == KvFormat::f16    ? 0x1p-10f
                               : format == KvFormat::int8 ? 1 / 127.0f
                                                          : 1 / 7.0f;
            const auto compare = [&](const std::vector<float>& x, const std::vector<float>& back) {
                float most = 0;
                for (const float v : x) most = std::max(most, std::fabs(v));
                // Half a step, and up to half an fp16 unit of the largest for the rounded scale.
                for (std::size_t i = 0; i < x.size(); ++i)
                    outside += std::fabs(x[i] - back[i]) > most * (0.5f * step + 0x1p-11f);
            };
            for (int t = 0; t < kPageTokens; ++t) {
                std::vector<float> k(static_cast<std::size_t>(dim)), v(static_cast<std::size_t>(value_dim));
                load_token(layout, page.data(), t, k, v);
                compare(keys[static_cast<std::size_t>(t)], k);
                compare(values[static_cast<std::size_t>(t)], v);
            }
            CHECK(outside == 0);
        }
}

TEST_CASE("tokens beyond the page and vectors of another length are refused") {
    const KvPageLayout layout = kv_page_layout(KvFormat::int8, 64, 64);
    std::vector<std::byte> page(layout.bytes());
    const std::vector<float> x(64), y(63);
    CHECK_THROWS_AS(store_token(layout, page.data(), 64, x, x), Error);
    CHECK_THROWS_AS(store_token(layout, page.data(), -1, x, x), Error);
    CHECK_THROWS_AS(store_token(layout, page.data(), 0, x, y), Error);
}
