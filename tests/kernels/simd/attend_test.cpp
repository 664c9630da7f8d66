#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "kernels/simd/kernels.h"
#include "tests/kernels/random_values.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

namespace {

/// Keys and values of one KV head in pages, and what the pages keep of them.
struct Cache {
    KvPageLayout layout;
    std::vector<std::vector<std::byte>> pages;
    std::vector<std::vector<float>> keys, values;  // as stored

    Cache(KvFormat format, int key_dim, int value_dim, int tokens, std::mt19937& rng)
        : layout(kv_page_layout(format, key_dim, value_dim)) {
        for (int t = 0; t < tokens; ++t) {
            // Bytes of tokens not yet written are the worst there are: NaN as halves.
            if (t % kPageTokens == 0) pages.emplace_back(layout.bytes(), std::byte{0xff});
            std::vector<float> k = normal_values(static_cast<std::size_t>(key_dim), rng);
            std::vector<float> v = normal_values(static_cast<std::size_t>(value_dim), rng);
            store_token(layout, pages.back().data(), t % kPageTokens, k, v);
            load_token(layout, pages.back().data(), t % kPageTokens, k, v);
            keys.push_back(k);
            values.push_back(v);
        }
    }
    const std::uint8_t* data(std::size_t page) const {
        return reinterpret_cast<const std::uint8_t*>(pages[page].data());
    }
    /// Tokens [first, last) as pages.
    std::vector<PageRef> refs(int first, int last) const {
        std::vector<PageRef> refs;
        for (int page = first / kPageTokens; page * kPageTokens < last; ++page)
            refs.push_back({data(static_cast<std::size_t>(page)), std::max(0, first - page * kPageTokens),
                            std::min(kPageTokens, last - page * kPageTokens)});
        return refs;
    }
    int tokens() const { return static_cast<int>(keys.size()); }
};

AttentionPart part_of(const Kernels& k, const Cache& c, const std::vector<PageRef>& pages,
                      std::span<const float> q, int digits) {
    AttentionPart part;
    attend(k, c.layout, pages, q, 1 / std::sqrt(static_cast<float>(c.layout.key_dim)), digits, part);
    return part;
}
std::vector<float> attention(const Kernels& k, const Cache& c, const std::vector<PageRef>& pages,
                             std::span<const float> q, int digits) {
    const AttentionPart part = part_of(k, c, pages, q, digits);
    std::vector<float> out(part.o.size());
    merge_attention({&part, 1}, out);
    return out;
}

/// Softmax attention over tokens [first, last) in double precision.
std::vector<double> reference(const Cache& c, int first, int last, std::span<const float> q) {
    const auto dim = static_cast<std::size_t>(c.layout.key_dim),
               value_dim = static_cast<std::size_t>(c.layout.value_dim);
    std::vector<double> out;
    for (std::size_t h = 0; h < q.size() / dim; ++h) {
        std::vector<double> scores;
        for (int t = first; t < last; ++t) {
            double s = 0;
            for (std::size_t i = 0; i < dim; ++i)
                s += static_cast<double>(q[h * dim + i]) *
                     static_cast<double>(c.keys[static_cast<std::size_t>(t)][i]);
            scores.push_back(s / std::sqrt(static_cast<double>(dim)));
        }
        const double most = *std::max_element(scores.begin(), scores.end());
        double total = 0;
        std::vector<double> o(value_dim);
        for (int t = first; t < last; ++t) {
            const double p = std::exp(scores[static_cast<std::size_t>(t - first)] - most);
            total += p;
            for (std::size_t i = 0; i < value_dim; ++i)
                o[i] += p * static_cast<double>(c.values[static_cast<std::size_t>(t)][i]);
        }
        for (const double x : o) out.push_back(x / total);
    }
    return out;
}

double worst_error(const std::vector<float>& found, const std::vector<double>& want) {
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
        worst = std::max(worst, std::fabs(static_cast<double>(found[i]) - want[i]));
        largest = std::max(largest, std::fabs(want[i]));
    }
    return worst / largest;
}

struct Precision {
    KvFormat format;
    int digits;
    double gate;  // KERNELS section 4; one digit: twice its measured 0.5 to 2.6e-2
};
constexpr Precision kPrecisions[] = {{KvFormat::f16, 1, 2e-6},
                                     {KvFormat::int8, 1, 5e-2},
                                     {KvFormat::int8, 2, 1e-3},
                                     {KvFormat::int4, 1, 5e-2},
                                     {KvFormat::int4, 2, 1e-3}};
const Kernels& scalar() {
    return kernels_for({});
}

}  // namespace

TEST_CASE("every instruction set attends bit for bit like the scalar kernels") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    for (const Precision& p : kPrecisions)
        for (const auto& [key_dim, value_dim] :
             {std::pair{64, 64}, {80, 80}, {96, 96}, {128, 128}, {192, 128}, {256, 256}}) {
            const Cache c(p.format, key_dim, value_dim, 590, rng);
            for (const int heads : {1, 2, 4, 9, 20}) {
                const std::vector<float> q = normal_values(static_cast<std::size_t>(heads * key_dim), rng, 2);
                const AttentionPart want = part_of(scalar(), c, c.refs(3, c.tokens()), q, p.digits);
                for (const Kernels* k : runnable_kernels()) {
                    CAPTURE(k->isa, static_cast<int>(p.format), p.digits, key_dim, heads);
                    const AttentionPart part = part_of(*k, c, c.refs(3, c.tokens()), q, p.digits);
                    CHECK(differing_bits(part.o, want.o) == 0);
                    CHECK(differing_bits(part.m, want.m) == 0);
                    CHECK(differing_bits(part.l, want.l) == 0);
                }
            }
        }
}

TEST_CASE("attention agrees with softmax in double precision, windows included") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    for (const Precision& p : kPrecisions)
        for (const int dim : {64, 128, 256}) {
            const Cache c(p.format, dim, dim, 300, rng);
            const std::vector<float> q = normal_values(static_cast<std::size_t>(4 * dim), rng, 2);
            for (const auto& [first, last] :
                 {std::pair{0, 300}, {0, 1}, {0, 64}, {63, 65}, {100, 229}, {299, 300}}) {
                CAPTURE(static_cast<int>(p.format), p.digits, dim, first, last);
                CHECK(worst_error(attention(best_kernels(), c, c.refs(first, last), q, p.digits),
                                  reference(c, first, last, q)) < p.gate);
            }
        }
}

TEST_CASE("heads at once are the heads one by one, bit for bit") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    constexpr int kDim = 64;
    for (const Precision& p : kPrecisions) {
        const Cache c(p.format, kDim, kDim, 530, rng);
        for (const int heads : {1, 2, 3, 4, 5, 7, 8, 9, 16, 18}) {
            const std::vector<float> q = normal_values(static_cast<std::size_t>(heads) * kDim, rng, 2);
            for (const Kernels* k : runnable_kernels()) {
                std::vector<float> singles;
                for (int h = 0; h < heads; ++h) {
                    const auto one =
                        attention(*k, c, c.refs(0, 530),
                                  std::span(q).subspan(static_cast<std::size_t>(h) * kDim, kDim), p.digits);
                    singles.insert(singles.end(), one.begin(), one.end());
                }
                CAPTURE(k->isa, static_cast<int>(p.format), p.digits, heads);
                CHECK(differing_bits(attention(*k, c, c.refs(0, 530), q, p.digits), singles) == 0);
            }
        }
    }
}

TEST_CASE("where pages lie changes no bit, and a window as long as the context is the context") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    for (const Precision& p : kPrecisions) {
        Cache c(p.format, 80, 80, 64 * 6 + 10, rng);
        const std::vector<float> q = normal_values(3 * 80, rng, 2);
        const std::vector<float> want = attention(best_kernels(), c, c.refs(0, c.tokens()), q, p.digits);
        std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6};
        std::shuffle(order.begin(), order.end(), rng);
        std::vector<std::vector<std::byte>> moved(7);
        std::vector<PageRef> pages = c.refs(0, c.tokens());
        for (std::size_t i = 0; i < 7; ++i) {
            moved[order[i]] = c.pages[i];
            pages[i].data = reinterpret_cast<const std::uint8_t*>(moved[order[i]].data());
        }
        CHECK(differing_bits(attention(best_kernels(), c, pages, q, p.digits), want) == 0);
        // Pages without a token that counts may stand anywhere in the list.
        std::vector<PageRef> padded = c.refs(0, c.tokens());
        padded.insert(padded.begin(), {c.data(3), 20, 20});
        padded.push_back({c.data(2), 64, 64});
        const std::vector<float> found = attention(best_kernels(), c, padded, q, p.digits);
        CHECK(differing_bits(found, want) == 0);
    }
}

TEST_CASE("what is read afterwards changes no bit") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    constexpr int kDim = 64;
    for (const Precision& p : kPrecisions) {
        const Cache c(p.format, kDim, kDim, 64 * 9 + 3, rng), after(p.format, kDim, kDim, 64 * 3, rng);
        for (const int heads : {1, 4, 16, 20}) {  // few run beside their reads, many run ahead of them
            const std::vector<float> q = normal_values(static_cast<std::size_t>(heads) * kDim, rng, 2);
            for (const Kernels* k : runnable_kernels()) {
                AttentionPart alone, followed;
                attend(*k, c.layout, c.refs(0, c.tokens()), q, 0.125f, p.digits, alone);
                attend(*k, c.layout, c.refs(0, c.tokens()), q, 0.125f, p.digits, followed,
                       after.refs(0, after.tokens()));
                CAPTURE(k->isa, static_cast<int>(p.format), p.digits, heads);
                CHECK(differing_bits(alone.o, followed.o) == 0);
                CHECK(differing_bits(alone.l, followed.l) == 0);
                CHECK(alone.m == followed.m);
            }
        }
    }
}

TEST_CASE("sinks and a window are a page list with ranges") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    const Cache c(KvFormat::int8, 64, 64, 400, rng);
    const std::vector<float> q = normal_values(2 * 64, rng, 2);
    std::vector<PageRef> pages = c.refs(0, 4);
    for (const PageRef& page : c.refs(210, 400)) pages.push_back(page);
    Cache kept(KvFormat::int8, 64, 64, 0, rng);
    for (int t = 0; t < 400; ++t)
        if (t < 4 || t >= 210) {
            kept.keys.push_back(c.keys[static_cast<std::size_t>(t)]);
            kept.values.push_back(c.values[static_cast<std::size_t>(t)]);
        }
    CHECK(worst_error(attention(best_kernels(), c, pages, q, 2), reference(kept, 0, kept.tokens(), q)) <
          1e-3);
}

TEST_CASE("page ranges of different threads merge to the whole") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    for (const Precision& p : kPrecisions) {
        const Cache c(p.format, 128, 128, 64 * 9 + 33, rng);
        const std::vector<float> q = normal_values(4 * 128, rng, 2);
        const std::vector<PageRef> pages = c.refs(0, c.tokens());
        const std::vector<float> whole = attention(best_kernels(), c, pages, q, p.digits);
        for (const std::size_t parts : {2u, 3u, 10u, 13u}) {  // more than there are pages: some find nothing
            std::vector<AttentionPart> done;
            for (std::size_t i = 0; i < parts; ++i) {
                const std::size_t first = pages.size() * i / parts, last = pages.size() * (i + 1) / parts;
                done.push_back(part_of(best_kernels(), c,
                                       {pages.begin() + static_cast<std::ptrdiff_t>(first),
                                        pages.begin() + static_cast<std::ptrdiff_t>(last)},
                                       q, p.digits));
            }
            std::vector<float> out(whole.size());
            merge_attention(done, out);
            float worst = 0;
            for (std::size_t i = 0; i < out.size(); ++i)
                worst = std::max(worst, std::fabs(out[i] - whole[i]));
            CAPTURE(static_cast<int>(p.format), p.digits, parts);
            CHECK(worst < 1e-6f);
        }
    }
}

TEST_CASE("the exponential is within 3e-7 from 0 down to -87") {
    // One token of score 0, one of score x whose value is 1 where the other's is 0: o is exp(x).
    const KvPageLayout layout = kv_page_layout(KvFormat::f16, 16, 16);
    std::vector<std::byte> page(layout.bytes());
    std::vector<float> zero(16), one(16);
    one[0] = 1;
    store_token(layout, page.data(), 0, zero, zero);
    store_token(layout, page.data(), 1, one, one);
    const std::vector<PageRef> pages = {{reinterpret_cast<const std::uint8_t*>(page.data()), 0, 2}};
    double worst = 0;
    for (float x = 0; x >= -87; x -= 0.0137f) {
        std::vector<float> q(16);
        q[0] = x;
        AttentionPart part;
        attend(best_kernels(), layout, pages, q, 1, 1, part);
        worst =
            std::max(worst, std::fabs(static_cast<double>(part.o[0]) / std::exp(static_cast<double>(x)) - 1));
    }
    CHECK(worst < 3e-7);
}

TEST_CASE("no token at all gives zeros, wrong shapes an error") {
    std::mt19937 rng(1);
    const Cache c(KvFormat::int8, 64, 64, 10, rng);
    const std::vector<float> q(2 * 64, 1.0f);
    for (const float x : attention(best_kernels(), c, {}, q, 1)) CHECK(x == 0);
    AttentionPart part;
    CHECK_THROWS_AS(attend(best_kernels(), c.layout, c.refs(0, 10), std::vector<float>(65), 1, 1, part),
                    Error);
    CHECK_THROWS_AS(attend(best_kernels(), c.layout, c.refs(0, 10), q, 1, 3, part), Error);
    const std::vector<PageRef> beyond = {{c.data(0), 0, 65}};
    CHECK_THROWS_AS(attend(best_kernels(), c.layout, beyond, q, 1, 1, part), Error);
}
