#include "kernels/cache/kv_cache.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "core/base/error.h"
#include "core/quant/kv_type.h"
#include "kernels/lab/random_weights.h"
#include "kernels/simd/kernels.h"
#include "tests/catch.h"
#include "tests/kernels/random_values.h"

using namespace memwall;
using namespace memwall::kernels;
using memwall::kernels::test::fresh_seed;

namespace {

constexpr int kKeyDim = 32, kValueDim = 48;

/// What a token's key or value is: a function of the token's number, layer and head, so that the reference
/// needs to keep nothing but numbers.
std::vector<float> vector_of(int token, std::int64_t layer, std::int64_t head, int dim) {
    lab::Random random(static_cast<std::uint64_t>(token),
                       static_cast<std::uint64_t>((layer * 16 + head) * 512 + dim));
    std::vector<float> v(static_cast<std::size_t>(dim));
    for (float& x : v) x = random.gaussian();
    return v;
}

/// Error of one stored element: fp16 rounding, or half a step of the token's scale and the scale's rounding.
float bound(const KvKind& kind, const std::vector<float>& x, bool keys) {
    float most = 0;
    for (const float v : x) most = std::max(most, std::fabs(v));
    if (kind.format == KvFormat::f16) return most * 0x1p-11f;
    const float steps = kind.format == KvFormat::int8 ? 127 : 7;
    const float loss = most * (0.5f / steps + 1.01f * 0x1p-11f);
    // Channel scales lie between the mean and the largest magnitude of a channel, here within 1 to 8.
    return keys && kind.channel_keys ? 8 * loss : loss;
}

struct Reference {
    std::vector<int> tokens;
};

/// The tokens a query at `position` attends to.
std::vector<int> visible(const KvShape& shape, const Reference& r, std::int64_t position) {
    std::vector<int> seen;
    for (std::int64_t t = 0; t <= position; ++t)
        if (shape.window == 0 || t > position - shape.window || t < shape.sinks)
            seen.push_back(r.tokens[static_cast<std::size_t>(t)]);
    return seen;
}

class World {
  public:
    World(const KvShape& shape, const KvSettings& settings, std::uint32_t seed)
        : shape_(shape), cache_(make_kv_cache(shape, settings)), most_(settings.sequences), rng_(seed) {}

    void step() {
        const int what = pick(10);
        if (all_.empty() || (what == 0 && static_cast<std::int64_t>(all_.size()) < most_)) {
            all_[cache_->add()] = {};
            return;
        }
        auto it = std::next(all_.begin(), pick(static_cast<int>(all_.size())));
        if (what < 6) {
            append(it->first, it->second, 1 + pick(what < 3 ? 2 : 90));
        } else if (what == 6 && static_cast<std::int64_t>(all_.size()) < most_) {
            const Reference same = it->second;
            all_[cache_->fork(it->first)] = same;
        } else if (what == 7) {
            const int n = pick(static_cast<int>(it->second.tokens.size()) + 1);
            try {
                cache_->truncate(it->first, n);
            } catch (const Error&) {
                REQUIRE(shape_.window > 0);  // only a window forgets
                return;
            }
            it->second.tokens.resize(static_cast<std::size_t>(n));
        } else if (what == 8 && pick(3) == 0) {
            cache_->remove(it->first);
            all_.erase(it);
        } else {
            check(it->first, it->second);
        }
    }

    void check_all() {
        for (const auto& [id, r] : all_) check(id, r);
        for (const auto& [id, r] : all_) cache_->remove(id);
        all_.clear();
        REQUIRE(cache_->pages_in_use() == 0);
    }
    long refused = 0, forks = 0, checked = 0;

  private:
    int pick(int n) { return static_cast<int>(rng_() % static_cast<unsigned>(n)); }

    void append(SequenceId id, Reference& r, int n) {
        const std::int64_t first = cache_->tokens(id);
        if (!cache_->extend(id, n)) {
            REQUIRE(cache_->tokens(id) == first);
            ++refused;
            return;
        }
        for (int i = 0; i < n; ++i) r.tokens.push_back(next_++);
        for (std::int64_t layer = 0; layer < shape_.layers; ++layer)
            for (std::int64_t head = 0; head < shape_.kv_heads; ++head) {
                std::vector<float> keys, values;
                for (int i = 0; i < n; ++i) {
                    const int token = r.tokens[static_cast<std::size_t>(first + i)];
                    const auto k = vector_of(token, layer, head, kKeyDim),
                               v = vector_of(token, layer, head, kValueDim);
                    keys.insert(keys.end(), k.begin(), k.end());
                    values.insert(values.end(), v.begin(), v.end());
                }
                cache_->store(id, layer, head, first, n, keys.data(), kKeyDim, values.data(), kValueDim);
            }
    }

    void check(SequenceId id, const Reference& r) {
        REQUIRE(cache_->tokens(id) == static_cast<std::int64_t>(r.tokens.size()));
        if (r.tokens.empty()) return;
        const std::int64_t layer = pick(static_cast<int>(shape_.layers)),
                           head = pick(static_cast<int>(shape_.kv_heads));
        // The newest token and, unless a window has moved on, any other.
        const auto last = static_cast<std::int64_t>(r.tokens.size()) - 1;
        const std::int64_t position = shape_.window > 0 ? last : last - pick(static_cast<int>(last) + 1);
        std::vector<PageRef> pages;
        cache_->pages(id, layer, head, position, pages);
        const std::vector<int> seen = visible(shape_, r, position);
        const KvPageLayout layout = shape_.page();
        std::vector<float> key(kKeyDim), value(kValueDim), ones(kKeyDim, 1.0f);
        cache_->fold_channel_scales(layer, head, ones);
        std::size_t i = 0;
        for (const PageRef& page : pages)
            for (int t = page.begin; t < page.end; ++t, ++i) {
                REQUIRE(i < seen.size());
                load_token(layout, reinterpret_cast<const std::byte*>(page.data), t, key, value);
                const auto k = vector_of(seen[i], layer, head, kKeyDim),
                           v = vector_of(seen[i], layer, head, kValueDim);
                float key_error = 0, value_error = 0;
                for (std::size_t d = 0; d < kKeyDim; ++d)
                    key_error = std::max(key_error, std::fabs(key[d] * ones[d] - k[d]));
                for (std::size_t d = 0; d < kValueDim; ++d)
                    value_error = std::max(value_error, std::fabs(value[d] - v[d]));
                REQUIRE(key_error <= bound(shape_.kind, k, true));
                REQUIRE(value_error <= bound(shape_.kind, v, false));
            }
        REQUIRE(i == seen.size());
        ++checked;
    }

    KvShape shape_;
    std::unique_ptr<KvCache> cache_;
    std::int64_t most_;
    std::mt19937 rng_;
    std::map<SequenceId, Reference> all_;
    int next_ = 1;
};

KvShape shape_of(const char* kind, std::int64_t window = 0, std::int64_t sinks = 0) {
    return {2, 2, kKeyDim, kValueDim, window, sinks, find_kv_kind(kind)};
}

}  // namespace

TEST_CASE("every cache returns the tokens of the slow reference", "[kernels][cache]") {
    const std::uint32_t seed = fresh_seed();
    INFO("MEMWALL_TEST_SEED=" << seed);
    using Layout = KvSettings::Layout;
    const std::string tmp = "/tmp";
    struct Case {
        const char* kind;
        std::int64_t window, sinks;
        KvSettings settings;
    };
    const Case cases[] = {
        {"f16", 0, 0, {Layout::contiguous, 300, 3, ""}},
        {"f16", 0, 0, {Layout::paged, 900, 4, ""}},
        {"int8", 0, 0, {Layout::paged, 700, 4, ""}},
        {"int4", 0, 0, {Layout::paged, 900, 3, ""}},
        {"int8-channel", 0, 0, {Layout::paged, 900, 4, ""}},
        {"int8", 70, 5, {Layout::paged, 448, 3, ""}},
        {"f16", 100, 0, {Layout::paged, 512, 3, ""}},
        {"int8", 90, 66, {Layout::contiguous, 500, 2, ""}},
        {"int4", 0, 0, {Layout::paged, 900, 3, tmp}},
        {"f16", 0, 0, {Layout::contiguous, 200, 3, tmp}},
    };
    for (const Case& c : cases) {
        INFO(c.kind << ", window " << c.window << ", sinks " << c.sinks << ", "
                    << (c.settings.layout == Layout::paged ? "paged " : "contiguous ") << c.settings.folder);
        World world(shape_of(c.kind, c.window, c.sinks), c.settings, seed);
        for (int i = 0; i < 1500; ++i) world.step();
        CHECK(world.refused > 0);
        CHECK(world.checked > 50);
        world.check_all();
    }
}

TEST_CASE("a cache allocates what it says, and that is the ledger's number", "[kernels][cache]") {
    // One row of K and V as core/quant/kv_type.h has them: f16 2 bytes a value, integers and 2 bytes a head.
    for (const char* kind : {"f16", "int8", "int4", "int8-channel"}) {
        INFO(kind);
        const KvShape shape{3, 2, 64, 64, 0, 0, find_kv_kind(kind)};
        const KvSettings settings{KvSettings::Layout::paged, 640, 1, ""};
        const auto cache = make_kv_cache(shape, settings);
        CHECK(cache->allocated() == kv_cache_allocation(shape, settings));
        const auto type = *quant::parse_kv_type(kind);
        const Bytes row = quant::kv_row_bytes(type, 2, 64) * 2;
        const std::string name = kind;
        if (name == "int8-channel") {
            // Beyond a plain channel format: a page keeps the scale of each token as well, and values have no
            // channels.
            CHECK(cache->allocated().value ==
                  3 * (640 * (row.value + 2 * 2 * 2) + quant::kv_channel_bytes(type, 2, 64).value));
        } else {
            CHECK(cache->allocated() == row * 640 * 3);
        }
    }
}

TEST_CASE("a window with sinks keeps its memory whatever the length", "[kernels][cache]") {
    const KvShape shape = shape_of("int8", 100, 4);
    const std::int64_t pages = window_pages(shape, 32);
    const auto cache = make_kv_cache(shape, {KvSettings::Layout::paged, pages * kPageTokens, 1, ""});
    const SequenceId id = cache->add();
    const std::vector<float> zeros(64 * kValueDim);
    for (int i = 0; i < 200; ++i) {
        REQUIRE(cache->extend(id, 32));
        cache->store(id, 0, 0, cache->tokens(id) - 32, 32, zeros.data(), kKeyDim, zeros.data(), kValueDim);
        REQUIRE(cache->pages_in_use() <= pages);
    }
    CHECK_THROWS_AS(cache->truncate(id, 100), Error);
    cache->truncate(id, cache->tokens(id) - 3);
}

TEST_CASE("equal prefixes share pages, and writing parts them", "[kernels][cache]") {
    const auto cache = make_kv_cache(shape_of("f16"), {KvSettings::Layout::paged, 640, 3, ""});
    std::vector<std::int32_t> tokens(150);
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i);
    std::vector<std::uint64_t> names;
    for (std::size_t b = 0; b < 2; ++b)
        names.push_back(memory::chain_hash(b == 0 ? 0 : names[b - 1], {tokens.data() + 64 * b, 64}));
    const SequenceId a = cache->add();
    REQUIRE(cache->extend(a, 150));
    cache->publish(a, names);
    CHECK(cache->pages_in_use() == 3);
    const SequenceId b = cache->add();
    CHECK(cache->adopt_prefix(b, names) == 128);
    CHECK(cache->pages_in_use() == 3);
    const SequenceId c = cache->fork(a);
    REQUIRE(cache->extend(c, 1));
    CHECK(cache->pages_in_use() == 4);
    cache->remove(a);
    CHECK(cache->pages_in_use() == 3);  // two of the prefix, one of c
}

TEST_CASE("channel scales save keys with outlier channels", "[kernels][cache]") {
    const std::uint32_t seed = fresh_seed();
    INFO("MEMWALL_TEST_SEED=" << seed);
    std::mt19937 rng(seed);
    std::normal_distribution<float> normal;
    constexpr int kTokens = 200, kDim = 64;
    std::vector<float> keys(kTokens * kDim), values(kTokens * kDim), query(kDim);
    for (float& x : values) x = normal(rng);
    for (int i = 0; i < kTokens * kDim; ++i)
        keys[static_cast<std::size_t>(i)] = normal(rng) * (i % kDim == 5 ? 40.0f : 1.0f);
    for (int d = 0; d < kDim; ++d) query[static_cast<std::size_t>(d)] = normal(rng) * (d == 5 ? 0.02f : 1.0f);
    // Attention in double precision over the unquantized cache.
    std::vector<double> exact(kDim);
    {
        std::vector<double> p(kTokens);
        double sum = 0;
        for (int t = 0; t < kTokens; ++t) {
            double s = 0;
            for (int d = 0; d < kDim; ++d)
                s +=
                    double{keys[static_cast<std::size_t>(t * kDim + d)]} * query[static_cast<std::size_t>(d)];
            sum += p[static_cast<std::size_t>(t)] = std::exp(s / 8);
        }
        for (int t = 0; t < kTokens; ++t)
            for (int d = 0; d < kDim; ++d)
                exact[static_cast<std::size_t>(d)] +=
                    p[static_cast<std::size_t>(t)] / sum * values[static_cast<std::size_t>(t * kDim + d)];
    }
    std::map<std::string, double> error;
    for (const char* kind : {"f16", "int8", "int8-channel", "int4", "int4-channel"}) {
        const KvShape shape{1, 1, kDim, kDim, 0, 0, find_kv_kind(kind)};
        for (const char* folder : {"", "/tmp"}) {
            const auto cache = make_kv_cache(shape, {KvSettings::Layout::paged, 256, 1, folder});
            const SequenceId id = cache->add();
            REQUIRE(cache->extend(id, kTokens));
            cache->store(id, 0, 0, 0, kTokens, keys.data(), kDim, values.data(), kDim);
            cache->arena().give_memory_back();
            std::vector<PageRef> pages;
            cache->pages(id, 0, 0, kTokens - 1, pages);
            std::vector<float> q = query, out(kDim);
            cache->fold_channel_scales(0, 0, q);
            AttentionPart part;
            attend(best_kernels(), shape.page(), pages, q, 0.125f, 2, part);
            merge_attention({&part, 1}, out);
            double most = 0;
            for (std::size_t d = 0; d < kDim; ++d) most = std::max(most, std::fabs(out[d] - exact[d]));
            if (std::string(folder).empty())
                error[kind] = most;
            else
                CHECK(error[kind] == most);  // where the pages are changes no bit
        }
    }
    CHECK(error["f16"] < 2e-3);
    CHECK(error["int8-channel"] < error["int8"] / 2);
    CHECK(error["int4-channel"] < error["int4"]);
}

TEST_CASE("sizes that cannot be are refused before anything is allocated", "[kernels][cache]") {
    const KvShape shape = shape_of("f16");
    const auto make = [&](KvSettings s) { return make_kv_cache(shape, s); };
    CHECK_THROWS_AS(make({KvSettings::Layout::paged, 0, 1, ""}), Error);
    CHECK_THROWS_AS(make({KvSettings::Layout::paged, std::int64_t{1} << 62, 1, ""}), Error);
    CHECK_THROWS_AS(make({KvSettings::Layout::contiguous, std::int64_t{1} << 39, 1 << 19, "/tmp"}), Error);
    CHECK_THROWS_AS(make({KvSettings::Layout::paged, std::int64_t{1} << 38, 1, "/tmp"}), Error);
    CHECK_THROWS_AS(make({KvSettings::Layout::paged, 640, 1, "/nowhere/at/all"}), Error);
    CHECK_THROWS_AS(make_kv_cache({1, 1, 40, 48, 0, 0, kKvKinds[0]}, {}), Error);
    CHECK_THROWS_AS(find_kv_kind("q8_0"), Error);
    const auto cache = make({KvSettings::Layout::paged, 640, 1, ""});
    CHECK_THROWS_AS(cache->tokens(0), Error);
    const SequenceId id = cache->add();
    CHECK_THROWS_AS(cache->add(), Error);
    std::vector<PageRef> pages;
    CHECK_THROWS_AS(cache->pages(id, 0, 0, 0, pages), Error);
    CHECK_THROWS_AS(cache->store(id, 0, 0, 0, 1, nullptr, 0, nullptr, 0), Error);
}
