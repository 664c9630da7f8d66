#include "kernels/verify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/model/open_model.h"
#include "devices/host_limits.h"
#include "kernels/engine/engine.h"
#include "kernels/host/evict.h"
#include "kernels/probe/bandwidth.h"
#include "kernels/probe/choose_loops.h"
#include "kernels/probe/steal.h"
#include "kernels/verify_predict.h"
#include "kernels/verify_rates.h"
#include "kernels/verify_trace.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace memwall::kernels {
namespace {

// What a prediction claims of itself.
constexpr double kDecode = 0.07, kFirstToken = 0.15, kResident = 0.02;
constexpr double kTpot = 0.05, kEndToEnd = 0.07, kMedianTtft = 0.15;  // of replays
constexpr std::int64_t kChunk = 96, kWarmSteps = Stopwatch::kWarmPasses;
constexpr int kSteps = 4;          // of decode for each of --runs, which are short
constexpr int kAttempts = 6;       // at a cache type of a model, while memory changes its pace
constexpr double kRestless = 480;  // seconds of a run after which nothing is tried again

/// Resident bytes of this process that belong to no file: code that is run for the first time comes in as the
/// engine works and is none of its memory. From smaps_rollup; all resident bytes of statm where there is
/// none.
double resident_bytes() {
#if defined(__GLIBC__)
    malloc_trim(0);  // what is freed but kept would count
#endif
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string word; rollup >> word;)
        if (double kib = 0; word == "Anonymous:" && rollup >> kib) return kib * 1024;
    std::ifstream statm("/proc/self/statm");
    double size = 0, resident = 0;
    statm >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

class Verifier {
  public:
    Verifier(const VerifyOptions& options, const Progress& progress)
        : options_(options), progress_(progress), team_(options.threads) {}

    VerifyRun run() {
        check();
        const std::vector<Subject> subjects = subjects_of();
        const CpuTicks before = read_cpu_ticks();
        run_.isa = best_kernels().isa;
        run_.threads = team_.threads();
        const devices::HostMemory memory = devices::read_host_memory("/");
        set_ = make_working_set(
            working_set_bytes(read_topology().last_cache(),
                              std::min(memory.available, memory.group_limit.value_or(memory.available))),
            team_);
        run_.pages = set_.huge ? "huge" : "small";
        steady_.emplace(set_, team_);
        references_.threads = team_.threads();
        parts_ = 1 + static_cast<double>(subjects.size() * (1 + options_.kv.size()));
        Stopwatch watch(team_.threads(), run_.sets, *steady_);
        warm_up(subjects.front());
        for (const Subject& subject : subjects) verify_model(subject, watch);
        finish();
        run_.steal = steal_between(before, read_cpu_ticks());
        run_.core_disturbances = steady_->core_disturbed();
        run_.memory_disturbances = steady_->memory_disturbed();
        if (progress_) progress_("done", 1);
        return std::move(run_);
    }

  private:
    struct Subject {
        model::Model model;
        std::string path;  ///< of a GGUF file; empty = synthetic weights
    };

    void check() const {
        if (options_.runs < 1 || options_.runs > 1000)
            throw Error("--runs", fmt::format("{}", options_.runs), "1 to 1000");
        for (const std::int64_t c : options_.contexts)
            if (c < 1 || c > 1 << 20) throw Error("--contexts", fmt::format("{}", c), "1 to 2^20 tokens");
        if (options_.contexts.empty() || options_.kv.empty())
            throw Error("verify", "no context or cache type", "at least one of each");
        for (const std::string& kv : options_.kv) find_kv_kind(kv);
        if (options_.trace.source.empty()) return;
        const TraceOptions& t = options_.trace;
        if (t.sequences < 1 || t.sequences > kChunk)
            throw Error("--sequences", fmt::format("{}", t.sequences), fmt::format("1 to {}", kChunk));
        if (t.requests < 0 || t.requests > 1'000'000)
            throw Error("--requests", fmt::format("{}", t.requests), "1 to 1,000,000");
        if (t.load >= 1 || (t.load < 0 && t.load != -1))
            throw Error("--load", fmt::format("{:g}", t.load), "0 to below 1");
        if (t.pool_tokens != 0 && t.pool_tokens < kPageTokens)
            throw Error("--pool", fmt::format("{} tokens", t.pool_tokens),
                        fmt::format("{} at least: one page", kPageTokens));
    }

    std::vector<Subject> subjects_of() const {
        std::vector<Subject> all;
        const std::vector<model::Model> own = verify_models();
        if (options_.models.empty())
            for (const model::Model& m : own) all.push_back({m, ""});
        if (!options_.trace.source.empty() && all.size() > 1) all.resize(1);
        for (const std::string& name : options_.models) {
            const auto known =
                std::find_if(own.begin(), own.end(), [&](const model::Model& m) { return m.id == name; });
            if (known != own.end()) {
                all.push_back({*known, ""});
                continue;
            }
            model::OpenedModel opened = model::open_model(name);
            if (opened.model.tensors.empty()) generate_tensors(opened.model);
            all.push_back({opened.model, opened.kind == "gguf" ? opened.path : ""});
        }
        for (const Subject& s : all) decoder_of(s.model, settings(s, options_.kv.front()));
        return all;
    }

    EngineSettings settings(const Subject&, const std::string& kv) const {
        EngineSettings s;
        s.kv = find_kv_kind(kv);
        s.chunk = kChunk;
        if (!options_.trace.source.empty()) {
            s.context =
                std::max(kChunk, *std::max_element(options_.contexts.begin(), options_.contexts.end()));
            s.sequences = options_.trace.sequences;
            return s;
        }
        // Room for the steps, and for a chunk that touches every buffer.
        s.context = std::max(kChunk, *std::max_element(options_.contexts.begin(), options_.contexts.end())) +
                    growth();
        return s;
    }
    /// Tokens by which a sequence grows at most while decode is timed.
    std::int64_t growth() const { return tokens_a_sample() * (kSteps * options_.runs + 2); }
    std::int64_t tokens_a_sample() const { return streams() == Streams::cold ? 1 : 1 + kWarmSteps; }

    void tell(const std::string& what) {
        if (progress_) progress_(what, std::min(0.99, done_++ / parts_));
    }

    /// The first engine of a process makes stacks and heaps grow once and for all.
    void warm_up(const Subject& subject) {
        const EngineSettings s = settings(subject, options_.kv.front());
        const auto source = subject.path.empty() ? synthetic_weights(s, 1, 8) : gguf_weights(subject.path);
        Engine engine(subject.model, s, *source, team_);
        const std::vector<std::int32_t> tokens(kChunk, 1);
        engine.forward(engine.add_sequence(), tokens);
    }

    VerifyItem item(const Subject& s, const std::string& what, const std::string& kv,
                    const std::string& unit) const {
        VerifyItem i;
        i.model = s.model.id;
        i.what = what;
        i.kv = kv;
        i.unit = unit;
        return i;
    }
    static void count(VerifyItem& i, double value) {
        i.achieved.median = i.achieved.low = i.achieved.high = i.achieved.min = i.achieved.max = value;
        i.achieved.samples = 1;
        i.achieved.unit = i.unit;
    }
    static void expect(VerifyItem& i, double predicted, double tolerance) {
        i.predicted = predicted;
        i.low = predicted * (1 - tolerance);
        i.high = predicted * (1 + tolerance);
    }

    using Sample_ = kernels::Sample;

    /// Samples of several quantities at once, until `runs` are clean, or `steady_` is lost. A sample is clean
    /// for all or for none. `each` of them make one by their mean.
    template <class Take>
    std::vector<device::ProbeResult> timed_sets(const std::vector<std::string>& names, Take take,
                                                int each = 1) {
        std::vector<SampleSet> sets;
        for (const std::string& name : names) sets.push_back({name, "s", "", team_.threads(), 0, {}});
        std::vector<Sample_> samples;
        steady_->sample(
            each * options_.runs,
            [&] {
                samples = take();
                return samples.front().clean;
            },
            [&](bool clean) {
                for (std::size_t i = 0; i < sets.size(); ++i)
                    sets[i].samples.push_back({samples[i].value, clean});
                ++run_.samples;
                run_.disturbed += !clean;
            });
        std::vector<device::ProbeResult> results;
        for (const SampleSet& set : sets) {
            run_.sets.push_back(set);
            // Too few clean samples for summarise() to set the others aside: keep the clean ones if all runs
            // are.
            SampleSet good = set;
            std::erase_if(good.samples, [](const Sample_& s) { return !s.clean; });
            results.push_back(summarise(steady_->lost() ? set : means(good, each)));
        }
        return results;
    }
    template <class Take>
    device::ProbeResult timed(const std::string& name, Take take, int each = 1) {
        take();  // warms up
        return timed_sets(
                   {name}, [&] { return std::vector<Sample_>{take()}; }, each)
            .front();
    }

    void verify_model(const Subject& subject, Stopwatch& watch) {
        HostRates rates;
        for (const std::string& kv : options_.kv) {
            const EngineSettings s = settings(subject, kv);
            const auto source =
                subject.path.empty() ? synthetic_weights(s, 1, 8) : gguf_weights(subject.path);
            const EngineBytes predicted = engine_bytes(subject.model, s, *source, team_.threads());
            const Decoder decoder = decoder_of(subject.model, s);
            const RatesRequest request{decoder, subject.model, *source, s, predicted.weights.value,
                                       set_,    streams()};
            tell(subject.model.id + ", " + kv);
            // What is predicted holds for memory as fast as it was when its parts were measured: when it no
            // longer is, all of it is measured again.
            const std::size_t items = run_.items.size();
            for (int attempt = 1;; ++attempt) {
                run_.items.resize(items);
                steady_->refer();
                rate(request, watch, rates);
                if (kv == options_.kv.front()) report_kernels(subject, rates);
                if (options_.trace.source.empty())
                    verify_engine(subject, s, *source, predicted, request, rates);
                else
                    verify_trace(subject, s, *source, predicted, request, rates);
                if (steady_->lost()) rates = {};  // also what is measured once a model
                if (!steady_->lost() || attempt == kAttempts || wall_seconds() - start_ > kRestless) break;
            }
            for (std::size_t i = items; i < run_.items.size(); ++i) run_.items[i].quiet = !steady_->lost();
            references_.samples.push_back({steady_->reference(), !steady_->lost()});
        }
    }

    /// Requests that are served one after the other leave their steps' weights in the last cache.
    Streams streams() const {
        return can_evict() && options_.trace.source.empty() ? Streams::cold : Streams::warm;
    }

    void rate(const RatesRequest& request, Stopwatch& watch, HostRates& rates) {
        measure_barrier(request, team_, watch, rates);
        measure_matmul(request, team_, watch, rates);
        measure_elements(request, team_, watch, rates);
        measure_pages(request, team_, watch, rates);
    }

    void report_kernels(const Subject& subject, const HostRates& rates) {
        for (const auto& [key, rate] : rates.matmul) {
            VerifyItem i = item(subject,
                                fmt::format("{} rows of {}{}", panel_layout(key.format).name, key.k,
                                            key.experts ? " of experts" : ""),
                                "", "B/s");
            count(i, 1 / rate.decode);
            run_.items.push_back(i);
        }
    }

    void report_allocated(const Subject& subject, const EngineBytes& predicted, const Engine& engine) {
        const auto bytes = [&](const char* what, Bytes expected, Bytes found) {
            VerifyItem i = item(subject, what, std::string(engine.settings().kv.name), "B");
            expect(i, expected.as_double(), 0);
            count(i, found.as_double());
            run_.items.push_back(i);
        };
        bytes("allocated weights", predicted.weights, engine.allocated().weights);
        bytes("allocated cache", predicted.kv_cache, engine.allocated().kv_cache);
        bytes("allocated activations", predicted.activations, engine.allocated().activations);
    }

    void verify_engine(const Subject& subject, const EngineSettings& s, const WeightSource& source,
                       const EngineBytes& predicted, const RatesRequest& request, const HostRates& rates) {
        const double empty = resident_bytes();
        Engine engine(subject.model, s, source, team_);
        report_allocated(subject, predicted, engine);
        std::vector<std::int32_t> tokens(static_cast<std::size_t>(s.context));
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = static_cast<std::int32_t>((i * 7919 + 13) %
                                                  static_cast<std::size_t>(engine.decoder().vocabulary));
        {
            const SequenceId full = engine.add_sequence();
            engine.forward(full, std::span(tokens).first(std::min<std::size_t>(tokens.size(), kChunk)));
            engine.fill(full, s.context - engine.tokens(full));
            engine.remove_sequence(full);
            VerifyItem i = item(subject, "resident", std::string(s.kv.name), "B");
            expect(i, predicted.total().as_double(), kResident);
            count(i, resident_bytes() - empty);
            run_.items.push_back(i);
        }
        for (const std::int64_t context : options_.contexts) {
            decode_item(subject, engine, request, rates, context, tokens);
            prefill_item(subject, engine, request, rates, context, tokens);
        }
    }

    void decode_item(const Subject& subject, Engine& engine, const RatesRequest& request,
                     const HostRates& rates, std::int64_t context, const std::vector<std::int32_t>& tokens) {
        const std::string kv(engine.settings().kv.name);
        SequenceId id = engine.add_sequence();
        engine.fill(id, context);
        // Tokens of chance: an answer of made-up weights repeats itself, and its experts stay in a cache.
        std::size_t next = 0;
        const device::ProbeResult seconds = timed(
            fmt::format("{}, {}: decode at {}", subject.model.id, kv, context),
            [&] {
                if (engine.tokens(id) + tokens_a_sample() > context + growth()) {
                    engine.remove_sequence(id);
                    id = engine.add_sequence();
                    engine.fill(id, context);
                }
                const auto step = [&] { engine.forward(id, {&tokens[next++ % tokens.size()], 1}); };
                if (request.streams == Streams::cold)
                    engine.evict();
                else
                    for (std::int64_t i = 0; i < kWarmSteps; ++i) step();
                const double start = wall_seconds();
                step();
                return Sample_{wall_seconds() - start, engine.cpu_share() >= RunTime::kCleanShare};
            },
            kSteps);
        const double pace = steady_->pace();
        const std::int64_t middle = context + growth() / 2;
        engine.remove_sequence(id);
        VerifyItem i = item(subject, "decode", kv, "tokens/s");
        i.context = context;
        i.timed = true;
        expect(i, pace / predict_decode(request, rates, team_.threads(), middle).seconds, kDecode);
        i.achieved = seconds;  // rates are reciprocal: ends change places
        i.achieved.unit = i.unit;
        i.achieved.median = 1 / seconds.median;
        i.achieved.low = 1 / seconds.high;
        i.achieved.high = 1 / seconds.low;
        i.achieved.min = 1 / seconds.max;
        i.achieved.max = 1 / seconds.min;
        run_.items.push_back(i);
    }

    void prefill_item(const Subject& subject, Engine& engine, const RatesRequest& request,
                      const HostRates& rates, std::int64_t context, const std::vector<std::int32_t>& tokens) {
        const std::string kv(engine.settings().kv.name);
        VerifyItem i = item(subject, "first token", kv, "s");
        i.context = context;
        i.timed = true;
        expect(i, predict_prefill(request, rates, team_.threads(), context), kFirstToken);
        i.achieved = timed(fmt::format("{}, {}: prompt of {}", subject.model.id, kv, context), [&] {
            const SequenceId id = engine.add_sequence();
            const double start = wall_seconds();
            engine.forward(id, std::span(tokens).first(static_cast<std::size_t>(context)));
            const Sample_ sample{wall_seconds() - start, engine.cpu_share() >= RunTime::kCleanShare};
            engine.remove_sequence(id);
            return sample;
        });
        run_.items.push_back(i);
    }

    /// Every page and a chunk's buffers, so that no step of a replay waits for memory: what the engine has
    /// taken, it keeps.
    static void touch_all(Engine& engine) {
        const EngineSettings& s = engine.settings();
        const std::vector<std::int32_t> tokens(static_cast<std::size_t>(std::min(kChunk, s.context)), 1);
        std::vector<SequenceId> ids;
        for (std::int64_t i = 0; i < s.sequences; ++i) {
            ids.push_back(engine.add_sequence());
            engine.forward(ids.back(), tokens);
            engine.fill(ids.back(), s.context - engine.tokens(ids.back()));
        }
        for (const SequenceId id : ids) engine.remove_sequence(id);
    }

    void verify_trace(const Subject& subject, const EngineSettings& s, const WeightSource& source,
                      const EngineBytes& predicted, const RatesRequest& request, const HostRates& rates) {
        const std::string kv(s.kv.name);
        const auto add = [&](const char* what, const char* unit, double value,
                             double tolerance) -> VerifyItem& {
            run_.items.push_back(item(subject, what, kv, unit));
            run_.items.back().context = s.context;
            expect(run_.items.back(), value, tolerance);
            return run_.items.back();
        };
        PredictedSteps steps(request, rates, team_.threads());
        std::vector<sim::TraceRequest> trace = open_workload(options_.trace);
        spread(trace, busy_seconds(trace, s.chunk, steps), load_of(options_.trace));
        const sim::Setup setup =
            replay_setup(trace, request.decoder, s,
                         {options_.trace.sequences, options_.trace.pool_tokens, true}, predicted);
        sim::RunOptions simulate;
        simulate.executor = &steps;
        const ReplayMetrics expected = metrics_of(sim::run(setup, simulate).all());
        if (expected.done == 0)
            throw Error("--trace", "every request is longer than context or pool", "larger --contexts");

        const double empty = resident_bytes();
        Engine engine(subject.model, s, source, team_);
        report_allocated(subject, predicted, engine);
        touch_all(engine);
        std::int64_t all_steps = 0, alike = 0, peak = 0, peak_predicted = 0;
        StepSum decoding, prompting;  // of the last replay: the same steps in each, give or take
        const std::string name = fmt::format("{}, {}: ", subject.model.id, kv);
        const auto achieved = timed_sets(
            {name + "time per output token", name + "end to end", name + "median time to first token",
             name + "decode step", name + "prompt step"},
            [&] {
                const Replay r = replay(setup, engine, steps);
                all_steps += r.steps;
                alike += r.alike;
                peak = std::max(peak, r.peak_blocks);
                peak_predicted = std::max(peak_predicted, r.peak_predicted);
                decoding = r.decoding;
                prompting = r.prompting;
                const auto each = [](const StepSum& sum) {
                    return sum.achieved / static_cast<double>(std::max<std::int64_t>(sum.steps, 1));
                };
                return std::vector<Sample_>{{r.metrics.tpot, r.clean},
                                            {r.metrics.e2e, r.clean},
                                            {r.metrics.ttft, r.clean},
                                            {each(r.decoding), r.clean},
                                            {each(r.prompting), r.clean}};
            });
        count(add("resident", "B", predicted.total().as_double(), kResident), resident_bytes() - empty);
        count(add("steps simulated alike", "steps", static_cast<double>(all_steps), 0),
              static_cast<double>(alike));
        count(add("peak blocks", "blocks", static_cast<double>(peak_predicted), 0),
              static_cast<double>(peak));
        run_.requests = expected.done;
        run_.refused = expected.refused;
        const auto time = [&](const char* what, double value, double tolerance, std::size_t which) {
            VerifyItem& i = add(what, "s", value, tolerance);
            i.timed = true;
            i.achieved = achieved[which];
        };
        const auto step = [&](const char* what, const StepSum& sum, double tolerance, std::size_t which) {
            if (sum.steps > 0) time(what, sum.predicted / static_cast<double>(sum.steps), tolerance, which);
        };
        step("decode step", decoding, kDecode, 3);
        step("prompt step", prompting, kFirstToken, 4);
        if (expected.tpot > 0) time("time per output token", expected.tpot, kTpot, 0);
        time("end to end", expected.e2e, kEndToEnd, 1);
        time("median first token", expected.ttft, kMedianTtft, 2);
    }

    void finish() {
        VerifyItem i;
        i.what = "read bandwidth";
        i.unit = "B/s";
        i.achieved = summarise(references_);
        run_.read_low = i.achieved.min;
        run_.read_high = i.achieved.max;
        run_.sets.push_back(references_);
        run_.items.insert(run_.items.begin(), i);
        run_.quiet = true;
        for (VerifyItem& each : run_.items) {
            run_.quiet = run_.quiet && each.quiet;
            each.verdict = judge(each);
        }
    }

    const VerifyOptions& options_;
    const Progress& progress_;
    ThreadTeam team_;
    WorkingSet set_;
    std::optional<SteadyRead> steady_;
    const double start_ = wall_seconds();
    SampleSet references_{"read", "B/s", "reference of a model and cache type", 0, 0, {}};
    VerifyRun run_;
    double done_ = 0, parts_ = 1;
};

}  // namespace

std::string verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::holds:
            return "holds";
        case Verdict::missed:
            return "missed";
        case Verdict::inconclusive:
            return "inconclusive";
        case Verdict::measured:
            return "measured";
    }
    return "";
}

Verdict judge(const VerifyItem& i) {
    if (i.predicted == 0) return Verdict::measured;
    if (i.timed && !i.quiet) return Verdict::inconclusive;
    if (i.achieved.median >= i.low && i.achieved.median <= i.high) return Verdict::holds;
    return i.achieved.high < i.low || i.achieved.low > i.high ? Verdict::missed : Verdict::inconclusive;
}

int VerifyRun::exit_status() const {
    const auto any = [&](Verdict v) {
        return std::any_of(items.begin(), items.end(), [&](const VerifyItem& i) { return i.verdict == v; });
    };
    return any(Verdict::missed) ? 1 : any(Verdict::inconclusive) ? 3 : 0;
}

VerifyRun verify(const VerifyOptions& options, const Progress& progress) {
    return Verifier(options, progress).run();
}

}  // namespace memwall::kernels
