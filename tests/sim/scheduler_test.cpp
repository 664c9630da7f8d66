// The scheduler alone, with a made-up executor whose steps cost what the test says, so that every time can be
// worked out by hand.
#include "sim/schedule/scheduler.h"

#include <map>

#include "sim/event/random.h"
#include "tests/catch.h"

using namespace memwall::sim;

namespace {

/// Runs steps to the end and keeps what the scheduler tells.
struct Bench : SchedulerListener {
    SchedulerSettings settings;
    std::unique_ptr<KvStore> store;
    std::unique_ptr<Scheduler> scheduler;
    std::map<std::uint64_t, std::vector<std::int64_t>> emitted;  // step numbers
    std::map<std::uint64_t, std::int64_t> finished_at, output;
    std::map<std::uint64_t, bool> whole;
    std::vector<std::uint64_t> starts, sent_away;
    std::int64_t steps = 0, most_decodes = 0, most_prompt_tokens = 0, drafts = 0;
    double acceptance = 0;

    Bench(SchedulerSettings s, StoreSettings kv) : settings(s), store(make_store(kv)) {
        scheduler = std::make_unique<Scheduler>(settings, *store, *this);
    }
    void started(std::uint64_t t, std::int64_t) override { starts.push_back(t); }
    void produced(std::uint64_t t, std::int64_t n) override { emitted[t].insert(emitted[t].end(), n, steps); }
    void finished(std::uint64_t t, std::int64_t n, bool complete, Holding&) override {
        finished_at[t] = steps;
        output[t] = n;
        whole[t] = complete;
    }
    void preempted(std::uint64_t t, std::int64_t, bool) override { sent_away.push_back(t); }

    void submit(std::uint64_t ticket, std::int64_t prompt, std::int64_t answer, int priority = 0,
                std::uint64_t content = 0, std::int64_t limit = 0) {
        Request r;
        r.ticket = ticket;
        r.priority = priority;
        r.turn.prompt = prompt;
        r.turn.output = answer;
        r.turn.limit = limit;
        r.turn.content = content ? content : mixed(ticket);
        r.acceptance = Random(1, "acceptance", ticket);
        scheduler->submit(std::move(r));
    }
    bool step() {
        StepWork work;
        scheduler->plan(work, drafts + 1, steps);
        scheduler->check();
        if (work.empty()) return false;
        ++steps;
        std::int64_t fresh = 0;
        for (const auto& p : work.prompts) fresh += p.to - p.from;
        most_prompt_tokens = std::max(most_prompt_tokens, fresh);
        most_decodes = std::max(most_decodes, static_cast<std::int64_t>(work.decodes.size()));
        if (settings.chunked)
            REQUIRE(fresh + static_cast<std::int64_t>(work.decodes.size()) <= settings.token_budget);
        for (auto& d : work.decodes)
            while (d.produced <= drafts && d.acceptance->uniform() < acceptance) ++d.produced;
        scheduler->complete(work, steps);
        scheduler->check();
        return true;
    }
    void run(std::int64_t most = 1'000'000) {
        while (!scheduler->idle() && steps < most)
            if (!step()) REQUIRE(scheduler->idle());  // the last answer was cut short
        REQUIRE(scheduler->idle());
    }
};

const StoreSettings kRoomy{.layout = KvLayout::paged, .cells = 160'000, .block_tokens = 16};

}  // namespace

TEST_CASE("a prompt is computed in chunks, then a token comes out at every step", "[sim][scheduler]") {
    Bench b({.max_sequences = 4, .token_budget = 100}, kRoomy);
    b.submit(1, 250, 3);
    b.run();
    CHECK(b.emitted[1] == std::vector<std::int64_t>{4, 5, 6});  // 100 + 100 + 50 tokens, then three
    CHECK(b.scheduler->counts().prompt_tokens == 250);
    Bench engine({.max_sequences = 4, .token_budget = 100, .first_token_from_prompt = true}, kRoomy);
    engine.submit(1, 250, 3);
    engine.run();
    CHECK(engine.emitted[1] == std::vector<std::int64_t>{3, 4, 5});
    CHECK(engine.store->occupied() == 0);
}

TEST_CASE("decodes come before prompts in the token budget", "[sim][scheduler]") {
    Bench b({.max_sequences = 4, .token_budget = 100}, kRoomy);
    b.submit(1, 50, 10);
    REQUIRE(b.step());
    b.submit(2, 250, 1);
    b.run();
    // One row of each step is the first sequence's: 99 + 99 + 52 tokens in steps 2, 3 and 4.
    CHECK(b.emitted[1].front() == 2);
    CHECK(b.emitted[2] == std::vector<std::int64_t>{5});
    CHECK(b.most_prompt_tokens == 99);
}

TEST_CASE("a static batch ends with its longest answer", "[sim][scheduler]") {
    Bench b({.batching = Batching::static_batch, .max_sequences = 2, .token_budget = 100, .context = 1000},
            kRoomy);
    b.submit(1, 100, 3);
    b.submit(2, 100, 8);
    b.submit(3, 100, 1);
    b.run();
    // Two prompts are two steps, then 8 of decoding; the third begins only then.
    CHECK(b.finished_at[1] == 5);
    CHECK(b.finished_at[2] == 10);
    CHECK(b.emitted[3] == std::vector<std::int64_t>{12});
    CHECK(b.store->occupied() == 0);
    Bench c({.batching = Batching::continuous, .max_sequences = 2, .token_budget = 100, .context = 1000},
            kRoomy);
    c.submit(1, 100, 3);
    c.submit(2, 100, 8);
    c.submit(3, 100, 1);
    c.run();
    CHECK(c.steps < b.steps);
}

TEST_CASE("saturated decoding runs as many sequences as there are seats", "[sim][scheduler]") {
    Bench b({.max_sequences = 6, .token_budget = 100}, kRoomy);
    for (std::uint64_t i = 1; i <= 60; ++i) b.submit(i, 16, 20);
    b.run();
    CHECK(b.most_decodes == 6);
    CHECK(b.scheduler->counts().output_tokens == 60 * 20);
    CHECK(b.scheduler->counts().finished == 60);
    // Six seats, twenty rounds and at most a few steps at the start of each batch.
    CHECK(b.steps >= 200);
    CHECK(b.steps < 230);
}

TEST_CASE("higher priority goes first and takes a seat", "[sim][scheduler]") {
    Bench b({.max_sequences = 1, .token_budget = 100}, kRoomy);
    b.submit(1, 50, 30);
    for (int i = 0; i < 5; ++i) b.step();
    b.submit(2, 50, 3, 5);
    b.submit(3, 50, 3);
    b.run();
    CHECK(b.sent_away == std::vector<std::uint64_t>{1});
    CHECK(b.finished_at[2] < b.finished_at[1]);
    CHECK(b.finished_at[1] < b.finished_at[3]);  // it kept its place
    CHECK(b.output[1] == 30);
    Bench fair({.max_sequences = 1, .token_budget = 100, .priorities = false}, kRoomy);
    fair.submit(1, 50, 30);
    fair.step();
    fair.submit(2, 50, 3, 5);
    fair.run();
    CHECK(fair.sent_away.empty());
    CHECK(fair.finished_at[1] < fair.finished_at[2]);
}

TEST_CASE("too little room preempts the last one in and everybody still finishes", "[sim][scheduler]") {
    for (const Preemption how : {Preemption::recompute, Preemption::swap})
        for (const KvLayout layout : {KvLayout::paged, KvLayout::contiguous}) {
            Bench b({.max_sequences = 4, .token_budget = 64, .context = 400, .preemption = how},
                    {.layout = layout,
                     .cells = layout == KvLayout::paged ? 480 : 800,
                     .block_tokens = 16,
                     .prefix_cache = false});
            for (std::uint64_t i = 1; i <= 8; ++i) b.submit(i, 60, 150);
            b.run();
            INFO(layout_name(layout) << " " << preemption_name(how));
            const SchedulerCounts& c = b.scheduler->counts();
            CHECK(c.preemptions > 0);
            CHECK((how == Preemption::swap) == (c.swaps > 0));
            CHECK(c.output_tokens == 8 * 150);
            CHECK(c.prompt_tokens + c.recomputed_tokens >= 8 * 60);
            CHECK((c.recomputed_tokens > 0 || how == Preemption::swap));
            for (std::uint64_t i = 1; i <= 8; ++i) CHECK(b.whole[i]);
            CHECK(b.store->occupied() == 0);
            CHECK(std::find(b.sent_away.begin(), b.sent_away.end(), 1) ==
                  b.sent_away.end());  // the oldest never
        }
}

TEST_CASE("what is reserved is never preempted", "[sim][scheduler]") {
    Bench b({.max_sequences = 8, .token_budget = 64, .context = 400, .admission = Admission::reserve},
            {.layout = KvLayout::paged, .cells = 480, .block_tokens = 16});
    for (std::uint64_t i = 1; i <= 8; ++i) b.submit(i, 60, 100, 0, 0, 150);
    b.run();
    CHECK(b.scheduler->counts().preemptions == 0);
    CHECK(b.most_decodes == 2);  // 480 / 224
}

TEST_CASE("what can never fit is refused, what outgrows the pool alone is cut short", "[sim][scheduler]") {
    Bench b({.max_sequences = 4, .token_budget = 64, .context = 400},
            {.layout = KvLayout::paged, .cells = 160, .block_tokens = 16});
    Turn t;
    t.prompt = 400;
    CHECK_FALSE(b.scheduler->refusal(t).empty());
    t.prompt = 160;
    CHECK(b.scheduler->refusal(t) == "larger than the KV pool");
    t.prompt = 159;
    CHECK(b.scheduler->refusal(t).empty());
    b.submit(1, 100, 200);
    b.run();
    CHECK_FALSE(b.whole[1]);
    CHECK(b.output[1] == 60);
    Bench c({.max_sequences = 4, .token_budget = 64, .context = 128}, kRoomy);
    c.submit(1, 100, 200);
    c.run();
    CHECK_FALSE(c.whole[1]);
    CHECK(c.output[1] == 28);
}

TEST_CASE("a shared prefix is computed once", "[sim][scheduler]") {
    Bench b({.max_sequences = 1, .token_budget = 1000}, kRoomy);
    b.submit(1, 320, 1, 0, 77);
    b.submit(2, 320, 1, 0, 77);
    b.submit(3, 320, 1, 0, 78);
    b.run();
    // The last token is computed again, so 19 of the 20 blocks are used.
    CHECK(b.scheduler->counts().hit_tokens == 304);
    CHECK(b.scheduler->counts().prompt_tokens == 320 + 16 + 320);
}

TEST_CASE("drafts are accepted in runs and rejected ones leave no trace in the cache", "[sim][scheduler]") {
    Bench b({.max_sequences = 8, .token_budget = 1000, .context = 100'000}, kRoomy);
    b.drafts = 4;
    b.acceptance = 0.7;
    for (std::uint64_t i = 1; i <= 8; ++i) b.submit(i, 16, 4000);
    b.run();
    const SchedulerCounts& c = b.scheduler->counts();
    CHECK(c.output_tokens == 8 * 4000);
    // Mean (1 - a^5) / (1 - a) = 2.7731 tokens a round, over 11,500 rounds.
    const double rounds = static_cast<double>(c.drafted) / 4;
    CHECK(1 + static_cast<double>(c.accepted) / rounds ==
          Approx((1 - std::pow(0.7, 5)) / 0.3).epsilon(0.015));
    CHECK(b.store->occupied() == 0);
}

TEST_CASE("random loads keep every invariant", "[sim][scheduler]") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Random r(seed, "load");
        INFO("seed " << seed);
        SchedulerSettings s;
        s.batching = r.uniform() < 0.8 ? Batching::continuous : Batching::static_batch;
        s.max_sequences = static_cast<std::int64_t>(1 + r.bits() % 6);
        s.token_budget =
            static_cast<std::int64_t>(s.max_sequences * 3 + 8 + static_cast<std::int64_t>(r.bits() % 100));
        s.context = 300;
        s.partial_prompts = static_cast<std::int64_t>(1 + r.bits() % 3);
        s.preemption = r.uniform() < 0.5 ? Preemption::swap : Preemption::recompute;
        s.admission = r.uniform() < 0.7 ? Admission::current : Admission::reserve;
        s.first_token_from_prompt = r.uniform() < 0.5;
        Bench b(s, {.layout = r.uniform() < 0.7 ? KvLayout::paged : KvLayout::contiguous,
                    .cells = static_cast<std::int64_t>(320 + r.bits() % 600),
                    .block_tokens = 16,
                    .prefix_cache = r.uniform() < 0.5,
                    .fit = static_cast<Fit>(r.bits() % 3)});
        b.drafts = static_cast<std::int64_t>(r.bits() % 3);
        b.settings.chunked = false;  // the bench does not count draft rows
        b.acceptance = 0.5;
        std::uint64_t ticket = 0;
        std::int64_t accepted = 0;
        for (int i = 0; i < 600; ++i) {
            if (r.uniform() < 0.2) {
                Turn t;
                t.prompt = static_cast<std::int64_t>(1 + r.bits() % 250);
                t.output = static_cast<std::int64_t>(1 + r.bits() % 60);
                if (b.scheduler->refusal(t).empty()) {
                    b.submit(++ticket, t.prompt, t.output, static_cast<int>(r.bits() % 3), r.bits() % 4 + 1);
                    ++accepted;
                }
            }
            b.step();
            if (r.uniform() < 0.005) b.scheduler->lose_everything();
        }
        b.run();
        REQUIRE(b.scheduler->counts().finished == accepted);
        std::int64_t sum = 0;
        for (const auto& [t, n] : b.output) sum += n;
        REQUIRE(sum == b.scheduler->counts().output_tokens);
        REQUIRE(b.store->occupied() == 0);
    }
}
