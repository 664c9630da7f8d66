#include "kernels/verify_serve.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "kernels/verify_predict.h"

namespace memwall::kernels {
namespace {

/// A token id that follows from a name and a place.
std::int32_t made_up(std::uint64_t name, std::int64_t place, std::int64_t vocabulary) {
    return static_cast<std::int32_t>(
        sim::mixed(name + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(place)) %
        static_cast<std::uint64_t>(vocabulary));
}

std::vector<std::int32_t> prompt_of(const sim::Turn& turn, std::int64_t vocabulary) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < turn.prompt; ++i) {
        const auto block = static_cast<std::size_t>(i / sim::kTraceBlockTokens);
        const bool named = turn.blocks && block < turn.blocks->size();
        tokens.push_back(made_up(named ? (*turn.blocks)[block] : turn.content, i, vocabulary));
    }
    return tokens;
}

bool windowed(const Decoder& decoder) {
    return std::any_of(decoder.caches.begin(), decoder.caches.end(),
                       [](const KvShape& c) { return c.window > 0; });
}

}  // namespace

sim::Setup replay_setup(const std::vector<sim::TraceRequest>& trace, const Decoder& decoder,
                        const EngineSettings& engine, const ServeSettings& serve, const EngineBytes& bytes) {
    sim::Setup s;
    sim::App app;
    app.name = "trace";
    app.arrivals.kind = sim::Arrivals::Kind::trace;
    app.trace = std::make_shared<const std::vector<sim::TraceRequest>>(trace);
    s.scenario.name = "replay";
    s.scenario.apps.push_back(app);
    s.scenario.seconds = 1e9;  // ends with the trace
    s.scenario.scheduler.max_sequences = serve.sequences;
    s.scenario.scheduler.context = engine.context;
    s.scenario.scheduler.token_budget = std::max(engine.chunk, serve.sequences);
    s.scenario.scheduler.first_token_from_prompt = true;
    const std::int64_t pages = (engine.context + kPageTokens - 1) / kPageTokens * serve.sequences;
    s.store.block_tokens = kPageTokens;
    s.store.cells =
        serve.pool_tokens > 0 ? std::min(serve.pool_tokens, pages * kPageTokens) : pages * kPageTokens;
    s.store.prefix_cache = serve.prefix_cache && !windowed(decoder);
    for (const KvShape& c : decoder.caches)
        if (c.window == 0)
            s.token_bytes +=
                static_cast<double>(c.page().bytes()) * static_cast<double>(c.streams()) / kPageTokens;
    s.fixed.weights = bytes.weights.value;
    s.fixed.scratch = bytes.activations.value;
    s.copy_bandwidth = 1;  // pages never move
    return s;
}

EngineSteps::EngineSteps(Engine& engine, const sim::App& app, const sim::StoreSettings& store)
    : engine_(engine), app_(app), store_(store) {}

EngineSteps::Text& EngineSteps::text_of(std::uint64_t ticket) {
    const auto [it, fresh] = texts_.try_emplace(ticket);
    if (fresh) {
        it->second.turn = sim::Session(app_, 0, ticket - 1, 1).next();
        it->second.tokens = prompt_of(it->second.turn, engine_.decoder().vocabulary);
    }
    return it->second;
}

void EngineSteps::begin(Text& t, std::int64_t cached) {
    t.sequence = engine_.add_sequence();
    if (cached == 0) return;
    sim::name_blocks(t.turn, static_cast<std::int64_t>(t.tokens.size()), kPageTokens, t.names);
    for (const auto& cache : engine_.caches())
        if (cache->adopt_prefix(t.sequence, std::span(t.names).first(
                                                static_cast<std::size_t>(cached / kPageTokens))) != cached)
            throw std::logic_error("verify: the cache lost a prefix that the scheduler's pool has");
}

void EngineSteps::publish(Text& t, std::int64_t tokens) {
    if (!store_.prefix_cache) return;
    sim::name_blocks(t.turn, tokens, kPageTokens, t.names);
    for (const auto& cache : engine_.caches()) cache->publish(t.sequence, t.names);
}

/// Runs tokens up to `to`; at the end of the text, the next one is drawn.
void EngineSteps::advance(Text& t, std::int64_t to) {
    const double start = wall_seconds();
    const auto from = static_cast<std::size_t>(engine_.tokens(t.sequence));
    const auto logits =
        engine_.forward(t.sequence, std::span(t.tokens).subspan(from, static_cast<std::size_t>(to) - from));
    if (static_cast<std::size_t>(to) == t.tokens.size())
        t.next = static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    const double wall = wall_seconds() - start;
    own_ += engine_.cpu_share() * wall;
    wall_ += wall;
}

// The order is that of the scheduler's plan, so that pages are taken, and cached ones evicted, in the same
// order on both sides.
sim::StepCost EngineSteps::run(sim::StepWork& work) {
    const double start = wall_seconds();
    for (sim::StepWork::Decode& d : work.decodes) {
        Text& t = text_of(d.ticket);
        t.tokens.push_back(t.next.value());
        t.next.reset();
        advance(t, d.context + 1);
        d.produced = 1;
    }
    for (const sim::StepWork::Prompt& p : work.prompts) {
        Text& t = text_of(p.ticket);
        if (t.sequence < 0) begin(t, p.cached);
        advance(t, p.to);
    }
    for (const sim::StepWork::Prompt& p : work.prompts)
        if (Text& t = text_of(p.ticket); t.next) publish(t, p.to);
    return {wall_seconds() - start, 0, 0};
}

void EngineSteps::leave(std::uint64_t ticket, bool comes_back) {
    Text& t = text_of(ticket);
    if (t.sequence >= 0) {
        publish(t, engine_.tokens(t.sequence));
        engine_.remove_sequence(t.sequence);
        t.sequence = -1;
    }
    if (!comes_back) {
        texts_.erase(ticket);
    } else if (t.next) {  // it was handed out already: its keys are computed with the rest
        t.tokens.push_back(*t.next);
        t.next.reset();
    }
}

std::int64_t EngineSteps::pages_in_use() const {
    std::int64_t pages = -1;
    for (const auto& cache : engine_.caches()) {
        if (cache->shape().window > 0) continue;
        if (pages >= 0 && pages != cache->pages_in_use()) return -1;
        pages = cache->pages_in_use();
    }
    return pages;
}

sim::StepCost PredictedSteps::run(sim::StepWork& work) {
    sim::StepCost cost;
    for (const sim::StepWork::Decode& d : work.decodes)
        cost.seconds += predict_decode(request_, rates_, threads_, d.context).seconds;
    for (const sim::StepWork::Prompt& p : work.prompts)
        cost.seconds += predict_prefill(request_, rates_, threads_, p.to - p.from, p.from);
    return cost;
}

sim::StepCost RecordedSteps::run(sim::StepWork& work) {
    if (next_ == steps_.size()) return {};  // a step more than there were: steps_alike() tells
    const sim::StepRecord& step = steps_[next_++];
    const double seconds = sim::seconds_of(step.to - step.from);
    if (predicted_) {
        StepSum& sum = work.prompts.empty() ? decoding_ : prompting_;
        ++sum.steps;
        sum.achieved += seconds;
        sum.predicted += predicted_->run(work).seconds;
    }
    return {seconds, 0, 0};
}

namespace {

/// The wall clock from a start on; waits for a moment without sleeping past it.
class WallClock {
  public:
    sim::Nanoseconds now() const {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
    }
    void wait_for(sim::Nanoseconds at) const {
        constexpr sim::Nanoseconds kSpin = 300'000;  // what a sleep may be late by
        if (const sim::Nanoseconds left = at - now(); left > kSpin)
            std::this_thread::sleep_for(std::chrono::nanoseconds(left - kSpin));
        while (now() < at) {
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

class Server : public sim::SchedulerListener {
  public:
    Server(const sim::Setup& setup, Engine& engine)
        : app_(setup.scenario.apps.front()),
          store_(sim::make_store(setup.store)),
          scheduler_(setup.scenario.scheduler, *store_, *this),
          steps_(engine, app_, setup.store),
          records_(app_.trace->size()) {}

    Served run() {
        const WallClock clock;
        sim::StepWork work;
        while (true) {
            if (scheduler_.idle()) {
                if (next_ == records_.size()) break;
                now_ = arrival(next_);
                clock.wait_for(now_);
                submit();
            }
            scheduler_.plan(work, 1, now_);
            if (work.empty()) {
                if (!scheduler_.idle())
                    throw std::logic_error("verify: requests wait and nothing can be done");
                continue;
            }
            steps_.run(work);
            const sim::Nanoseconds began = now_;
            finish_step(clock.now(), began);
            scheduler_.complete(work, now_);
            served_.steps.push_back(sim::record_step(work, *store_, began, now_));
            served_.pages.push_back(steps_.pages_in_use());
        }
        served_.cpu_share = steps_.cpu_share();
        served_.scheduler = scheduler_.counts();
        return std::move(served_);
    }

    void produced(std::uint64_t ticket, std::int64_t) override {
        Record& r = records_[ticket - 1];
        if (r.first < 0) {
            r.first = now_;
            served_.requests.ttft.add(sim::seconds_of(now_ - arrival(ticket - 1)));
        } else {
            served_.requests.itl.add(sim::seconds_of(now_ - r.last));
        }
        r.last = now_;
        ++served_.requests.output_tokens;
    }
    void finished(std::uint64_t ticket, std::int64_t output, bool complete, sim::Holding&) override {
        const Record& r = records_[ticket - 1];
        ++(complete ? served_.requests.finished : served_.requests.cut_short);
        if (output > 0) served_.requests.e2e.add(sim::seconds_of(r.last - arrival(ticket - 1)));
        if (output > 1)
            served_.requests.tpot.add(sim::seconds_of(r.last - r.first) / static_cast<double>(output - 1));
        steps_.leave(ticket, false);
    }
    void preempted(std::uint64_t ticket, std::int64_t, bool) override { steps_.leave(ticket, true); }

  private:
    struct Record {
        sim::Nanoseconds first = -1, last = 0;
    };
    sim::Nanoseconds arrival(std::size_t i) const { return (*app_.trace)[i].arrival; }

    void submit() {
        sim::Request request;
        request.ticket = ++next_;
        request.turn = sim::Session(app_, 0, next_ - 1, 1).next();
        ++served_.requests.arrived;
        if (!scheduler_.refusal(request.turn).empty())
            ++served_.requests.refused;
        else
            scheduler_.submit(std::move(request));
    }

    /// The step ends now; who came meanwhile is in the queue by then. No step ends with an arrival, so that
    /// their order is never in doubt.
    void finish_step(sim::Nanoseconds now, sim::Nanoseconds began) {
        now = std::max(now, began + 1);
        while (next_ < records_.size() && arrival(next_) <= now) {
            now += arrival(next_) == now;
            submit();
        }
        now_ = now;
    }

    const sim::App& app_;
    std::unique_ptr<sim::KvStore> store_;
    sim::Scheduler scheduler_;
    EngineSteps steps_;
    std::vector<Record> records_;
    Served served_;
    std::size_t next_ = 0;
    sim::Nanoseconds now_ = 0;
};

}  // namespace

Served serve(const sim::Setup& setup, Engine& engine) {
    return Server(setup, engine).run();
}

std::int64_t steps_alike(const Served& served, const std::vector<sim::StepRecord>& simulated) {
    std::int64_t alike = 0;
    for (std::size_t i = 0; i < std::min(served.steps.size(), simulated.size()); ++i)
        alike += served.steps[i] == simulated[i] && served.steps[i].blocks == served.pages[i];
    return alike;
}

}  // namespace memwall::kernels
