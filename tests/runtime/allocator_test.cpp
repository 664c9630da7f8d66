#include "core/runtime/allocator.h"

#include <random>

#include "tests/catch.h"

using namespace memwall::runtime;

namespace {

using Blocks = std::vector<Arena::Block>;
constexpr std::int64_t kEnd = std::int64_t{1} << 62;

/// A graph by hand: names for what the tests need.
struct Builder {
    Graph graph;
    TensorId input(std::int64_t n) { return graph.leaf(Op::input, Type::f32, {n, 1, 1, 1}); }
    TensorId weight(std::int64_t a, std::int64_t b) {
        return graph.leaf(Op::weight, Type::f32, {a, b, 1, 1});
    }
    TensorId node(Op op, std::vector<TensorId> operands) { return graph.apply(op, operands); }
    TensorId view(TensorId of, std::int64_t n) {
        const Extents e{n, 1, 1, 1};
        return graph.apply(Op::view, {&of, 1}, &e);
    }
    Replay replay(TensorId last) {
        graph.expand(last);
        Replay r;
        r.run(graph, 32);
        return r;
    }
};

}  // namespace

TEST_CASE("the smallest hole that fits is taken, the highest of equals", "[replay]") {
    Arena a;
    for (int i = 0; i < 8; ++i) a.take(i == 1 ? 96 : 64);  // 0, 64..160, 160, 224 ...
    a.give(0, 64);
    a.give(64 + 96, 64);
    a.give(64 + 96 + 128, 64);
    CHECK(a.free_blocks() == Blocks{{0, 64}, {160, 64}, {288, 64}, {544, kEnd - 544}});
    CHECK(a.take(64) == 288);
    CHECK(a.take(40) == 160);  // rounded up to 64
    a.give(64, 96);
    CHECK(a.free_blocks() == Blocks{{0, 160}, {544, kEnd - 544}});
    CHECK(a.take(32) == 0);  // from the low end of the hole
    CHECK(a.peak() == 544);
}

TEST_CASE("what fits no hole goes to the open end, even where that begins below the peak", "[replay]") {
    Arena a;
    a.take(64);
    a.take(64);
    a.give(64, 64);
    CHECK(a.peak() == 128);
    CHECK(a.take(96) == 64);
    CHECK(a.peak() == 160);
    Arena wide(128);
    CHECK(wide.take(1) == 0);
    CHECK(wide.take(1) == 128);
}

TEST_CASE("a freed block merges with both neighbours where nothing lies between", "[replay]") {
    Arena a;
    for (int i = 0; i < 5; ++i) a.take(64);
    a.give(0, 64);
    a.give(128, 64);
    a.give(64, 64);
    CHECK(a.free_blocks() == Blocks{{0, 192}, {320, kEnd - 320}});
    a.give(256, 64);
    CHECK(a.free_blocks() == Blocks{{0, 192}, {256, kEnd - 256}});
    a.give(192, 64);
    CHECK(a.free_blocks() == Blocks{{0, kEnd}});
}

TEST_CASE("an empty block between two others stops their merging", "[replay]") {
    Arena a;
    for (int i = 0; i < 4; ++i) a.take(64);
    a.give(64, 64);
    CHECK(a.take(0) == 64);  // an empty tensor sits at the start of the best hole ...
    a.give(0, 64);
    CHECK(a.take(128) == 0);
    a.give(64, 0);  // ... and leaves an empty block when it goes
    a.give(0, 128);
    a.give(128, 64);
    a.give(192, 64);
    // 0..256 touches the open end, but the block after it is the empty one.
    CHECK(a.free_blocks() == Blocks{{0, 256}, {64, 0}, {256, kEnd - 256}});
    CHECK(a.take(0) == 64);  // an empty block is the smallest that holds nothing, and is used up
    CHECK(a.free_blocks() == Blocks{{0, 256}, {256, kEnd - 256}});
    CHECK(a.take(320) == 256);
}

TEST_CASE("inputs come first, used or not, and used ones are freed", "[replay]") {
    Builder b;
    const TensorId x = b.input(8), unused = b.input(16);
    b.graph.expand(x);
    b.graph.expand(unused);
    const TensorId y = b.node(Op::mul_mat, {b.weight(8, 8), x});
    const TensorId z = b.node(Op::mul_mat, {b.weight(8, 8), y});
    const Replay r = b.replay(z);
    CHECK(r.placement(x).offset == 0);
    CHECK(r.placement(unused).offset == 32);
    CHECK(r.placement(y).offset == 96);
    CHECK(r.placement(x).gone_at == 0);
    CHECK(r.placement(z).offset == 0);  // where x was
    CHECK(r.placement(unused).gone_at == Placement::kNever);
    CHECK(r.placement(z).gone_at == Placement::kNever);  // nobody reads the result
    CHECK(r.peak() == 128);
    CHECK(r.live_at_peak(b.graph) == std::vector<TensorId>{x, unused, y});
}

TEST_CASE("an operator overwrites an operand that nobody else needs", "[replay]") {
    Builder b;
    const TensorId x = b.input(8);
    const TensorId y = b.node(Op::mul_mat, {b.weight(8, 8), x});
    SECTION("the first one that may be overwritten") {
        const TensorId z = b.node(Op::add, {y, x});
        const Replay r = b.replay(z);
        CHECK(r.placement(z).over == y);
        CHECK(r.placement(z).offset == r.placement(y).offset);
        CHECK(r.placement(x).gone_at == 1);
    }
    SECTION("the second if the first is read again") {
        const TensorId z = b.node(Op::add, {y, b.node(Op::mul_mat, {b.weight(8, 8), x})});
        const TensorId last = b.node(Op::mul_mat, {z, y});
        const Replay r = b.replay(last);
        CHECK(r.placement(z).over == b.graph.operands(b.graph[z])[1]);
        CHECK(r.placement(y).gone_at == 3);
    }
    SECTION("never through an alias") {
        const TensorId v = b.view(y, 8);
        const TensorId z = b.node(Op::unary, {v});
        const Replay r = b.replay(z);
        CHECK(r.placement(z).over == -1);
        CHECK(r.placement(z).offset != r.placement(y).offset);
        CHECK(r.placement(v).offset == -1);
        CHECK(r.placement(y).gone_at == 2);  // freed with its last alias
    }
    SECTION("never one with an alias alive") {
        const TensorId v = b.view(y, 8);
        const TensorId z = b.node(Op::unary, {y});
        b.graph.expand(v);
        CHECK(b.replay(b.node(Op::add, {z, v})).placement(z).over == -1);
    }
    SECTION("never an output, which is also kept") {
        b.graph.mark_output(y);
        const TensorId z = b.node(Op::unary, {y});
        const Replay r = b.replay(b.node(Op::unary, {z}));
        CHECK(r.placement(z).over == -1);
        CHECK(r.placement(y).gone_at == Placement::kNever);
    }
    SECTION("never one that the same node reads twice") {
        const TensorId z = b.node(Op::mul, {y, y});
        const Replay r = b.replay(z);
        CHECK(r.placement(z).over == -1);
        CHECK(r.placement(y).gone_at == 1);
    }
    SECTION("never one of another shape or type") {
        const TensorId wide = b.node(Op::mul_mat, {b.weight(8, 16), x});
        const TensorId order = b.node(Op::argsort, {y});  // 8 integers in place of 8 floats
        CHECK(b.replay(b.node(Op::add, {y, wide})).placement(b.graph.size() - 1).over == y);
        CHECK(b.replay(b.node(Op::add, {order, wide})).placement(b.graph.size() - 1).over == order);
        const Extents e{8, 1, 1, 1};
        const TensorId view = b.graph.apply(Op::view, {&order, 1}, &e);
        CHECK(b.replay(b.node(Op::add, {view, wide})).placement(b.graph.size() - 1).over == -1);
    }
    SECTION("and never by an operator that needs its operands to the end") {
        const TensorId z = b.node(Op::glu, {y, x});
        CHECK(b.replay(z).placement(z).over == -1);
    }
}

TEST_CASE("writes into memory outside take none", "[replay]") {
    Builder b;
    const TensorId cache = b.graph.leaf(Op::cache, Type::f16, {8, 4, 1, 1});
    const TensorId x = b.input(8), rows = b.input(1);
    const TensorId written = b.node(Op::set_rows, {x, rows, cache});
    const Replay r = b.replay(written);
    CHECK(b.graph[written].root == cache);
    CHECK(r.placement(written).offset == -1);
    CHECK(r.peak() == 64);
    CHECK(r.placement(x).gone_at == 0);
}

TEST_CASE("pages that only logits reach count apart", "[replay]") {
    Builder b;
    const TensorId x = b.input(8);
    b.graph.part = Part::logits;
    const TensorId y = b.node(Op::mul_mat, {b.weight(8, 1000), x});
    const Replay r = b.replay(y);
    CHECK(r.peak() == 32 + 4000);
    CHECK(r.peak_without_logits() == 32);
}

TEST_CASE("tensors that live at the same time never overlap", "[replay]") {
    const unsigned seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    for (int round = 0; round < 200; ++round) {
        Builder b;
        std::vector<TensorId> made{b.input(8), b.input(40)};
        for (int i = 0; i < 60; ++i) {
            const TensorId a = made[pick(made.size())], c = made[pick(made.size())];
            switch (pick(5)) {
                case 0:
                    made.push_back(b.view(a, static_cast<std::int64_t>(pick(9))));
                    break;
                case 1:
                    made.push_back(b.node(Op::unary, {a}));
                    break;
                case 2:
                    made.push_back(b.node(Op::add, {a, c}));
                    break;
                case 3:
                    made.push_back(b.node(Op::glu, {a, c}));
                    break;
                default:
                    made.push_back(b.node(Op::concat, {a, c}));
            }
            if (b.graph[made.back()].extents[0] > 5000) made.pop_back();
            if (pick(20) == 0) b.graph.mark_output(made.back());
        }
        for (const TensorId t : made) b.graph.expand(t);
        Replay r;
        r.run(b.graph, 32);

        struct Life {
            std::int64_t from, to;
            std::int32_t born, gone;
        };
        std::vector<Life> lives;
        const auto add = [&](TensorId t, std::int32_t born) {
            const Placement& p = r.placement(t);
            if (p.offset >= 0 && b.graph[t].bytes > 0)
                lives.push_back({p.offset, p.offset + b.graph[t].bytes, born, p.gone_at});
        };
        for (const TensorId t : b.graph.leafs()) add(t, -1);
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(b.graph.nodes().size()); ++i)
            add(b.graph.nodes()[static_cast<std::size_t>(i)], i);
        std::int64_t end = 0;
        bool overlap = false;
        for (std::size_t i = 0; i < lives.size(); ++i) {
            end = std::max(end, lives[i].to);
            for (std::size_t k = 0; k < i; ++k) {
                const Life &x = lives[i], &y = lives[k];
                // A tensor that overwrites another begins in the step in which the other ends.
                const bool together = x.born < y.gone && y.born < x.gone;
                overlap = overlap || (together && x.from < y.to && y.from < x.to);
            }
        }
        REQUIRE_FALSE(overlap);
        REQUIRE(r.peak() >= end);
        REQUIRE(r.peak() < end + 32);
    }
}
