// memwall verify: achieved against predicted on this machine.
#include "kernels/verify.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/samples_json.h"
#include "core/base/size_text.h"
#include "core/view/json_parts.h"
#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

struct Options {
    kernels::VerifyOptions run;
    bool json = false;
};

std::string value_text(double value, const std::string& unit) {
    if (unit == "B") return bytes_text(Bytes(static_cast<std::int64_t>(std::llround(value))));
    if (unit == "B/s") return rate_text(BytesPerSecond(value));
    if (unit == "s")
        return value < 1 ? fmt::format("{:.1f} ms", value * 1e3) : fmt::format("{:.3f} s", value);
    return fmt::format("{:.{}f} {}", value, unit == "tokens/s" ? 1 : 0, unit);
}

std::string table(const kernels::VerifyRun& run) {
    view::TextTable t{{"model", "what", "kv", ">context", ">predicted", ">achieved", ">95 % interval",
                       ">achieved / predicted", "verdict"},
                      {}};
    for (const kernels::VerifyItem& i : run.items) {
        const bool predicted = i.predicted > 0;
        t.rows.push_back({i.model.empty() ? "host" : i.model, i.what, i.kv,
                          i.context > 0 ? fmt::format("{}", i.context) : "",
                          predicted ? value_text(i.predicted, i.unit) : "",
                          value_text(i.achieved.median, i.unit),
                          i.achieved.samples > 1 ? fmt::format("{} - {}", value_text(i.achieved.low, i.unit),
                                                               value_text(i.achieved.high, i.unit))
                                                 : "",
                          predicted ? fmt::format("{:.3f}", i.achieved.median / i.predicted) : "",
                          kernels::verdict_name(i.verdict)});
    }
    return view::plain_table(t, colour_output(), table_width());
}

view::Json json(const Options& o, const kernels::VerifyRun& run) {
    view::Json j = view::document("memwall/verify/1");
    j["isa"] = run.isa;
    j["pages"] = run.pages;
    j["threads"] = run.threads;
    j["quiet"] = run.quiet;
    j["read_low_bytes_per_second"] = run.read_low;
    j["read_high_bytes_per_second"] = run.read_high;
    j["steal"] = run.steal;
    j["samples_taken"] = run.samples;
    j["samples_disturbed"] = run.disturbed;
    j["core_disturbances"] = run.core_disturbances;
    j["memory_disturbances"] = run.memory_disturbances;
    j["exit_status"] = run.exit_status();
    if (run.requests > 0)
        j["trace"] = {{"source", o.run.trace.source},
                      {"requests_answered", run.requests},
                      {"requests_refused", run.refused}};
    j["items"] = view::Json::array();
    for (const kernels::VerifyItem& i : run.items) {
        view::Json item = {{"model", i.model},
                           {"what", i.what},
                           {"kv", i.kv},
                           {"context", i.context},
                           {"unit", i.unit},
                           {"timed", i.timed},
                           {"verdict", kernels::verdict_name(i.verdict)},
                           {"achieved",
                            {{"median", i.achieved.median},
                             {"low", i.achieved.low},
                             {"high", i.achieved.high},
                             {"min", i.achieved.min},
                             {"max", i.achieved.max},
                             {"samples", i.achieved.samples},
                             {"unclean", i.achieved.unclean}}}};
        if (i.predicted > 0) item["predicted"] = {{"central", i.predicted}, {"low", i.low}, {"high", i.high}};
        j["items"].push_back(std::move(item));
    }
    j["samples"] = samples_json(run.sets);
    return j;
}

int run(const Options& o) {
    const kernels::VerifyRun done = kernels::verify(o.run, progress_line());
    if (o.json) {
        std::cout << json(o, done).dump(2, ' ', false, view::Json::error_handler_t::replace) << "\n";
        return done.exit_status();
    }
    std::cout << fmt::format("{}, {} thread{}, {} pages, read {} to {}, {} of {} samples disturbed{}\n",
                             done.isa, done.threads, done.threads == 1 ? "" : "s", done.pages,
                             rate_text(BytesPerSecond(done.read_low)),
                             rate_text(BytesPerSecond(done.read_high)), done.disturbed, done.samples,
                             done.disturbed == 0
                                 ? ""
                                 : fmt::format(" (somebody else had a core {} times, memory "
                                               "another pace {} times, counting parts)",
                                               done.core_disturbances, done.memory_disturbances))
              << (done.requests == 0
                      ? ""
                      : fmt::format(
                            "{}: {} requests{}, replayed {} times and simulated\n", o.run.trace.source,
                            done.requests,
                            done.refused == 0
                                ? ""
                                : fmt::format(" ({} longer than context or pool refused)", done.refused),
                            done.samples))
              << table(done);
    if (!done.quiet)
        std::cout
            << "inconclusive where the machine was not quiet (a thread had its core for less than 97 % of "
               "the time, or\n"
               "memory changed its pace by more than 5 %, again and again); close other programs and run it "
               "again, or try\n"
               "--threads 1: on a virtual machine two cores may be one in truth\n";
    return done.exit_status();
}

}  // namespace

void add_verify(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "verify", "Run the project's own engine on this machine and hold the predictions against it");
    app->add_option("MODEL", o->run.models,
                    "models the engine can run: a GGUF file, a catalogue id (weights made up), small-dense, "
                    "small-experts, small-windowed; default: these three");
    app->add_option("--contexts", o->run.contexts,
                    "tokens before a decode step and of a prompt; default: 128,512,2048")
        ->delimiter(',')
        ->type_name("N,...");
    app->add_option("--kv", o->run.kv,
                    "cache types: f16, int8, int4, int8-channel, int4-channel; default: f16,int8,int4")
        ->delimiter(',')
        ->type_name("TYPE,...");
    app->add_option("--threads", o->run.threads, "threads; default: one a core")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    app->add_option("--runs", o->run.runs, "samples of every item; default: 7")->type_name("N");
    auto* trace =
        app->add_option("--trace", o->run.trace.source,
                        "serve requests and simulate them: a .csv or .jsonl trace, a scenario, or 'default'")
            ->type_name("FILE|SCENARIO|default")
            ->group("Trace");
    app->add_option("--requests", o->run.trace.requests, "the first ones only")
        ->type_name("N")
        ->check(CLI::PositiveNumber)
        ->needs(trace)
        ->group("Trace");
    app->add_option("--load", o->run.trace.load,
                    "move arrivals until the engine should be busy this share of the time; default: as "
                    "recorded, 0.3 without a recorded trace")
        ->type_name("SHARE")
        ->needs(trace)
        ->group("Trace");
    app->add_option("--sequences", o->run.trace.sequences, "requests served at a time; default: 4")
        ->type_name("N")
        ->needs(trace)
        ->group("Trace");
    app->add_option("--pool", o->run.trace.pool_tokens,
                    "tokens of the KV pool; default: every sequence in full")
        ->type_name("TOKENS")
        ->needs(trace)
        ->group("Trace");
    app->add_flag("--json", o->json, "print one JSON document with raw samples");
    app->footer(
        "Exit status: 0 every prediction held, 1 one was missed, 3 inconclusive: the machine was not quiet.\n"
        "Examples:\n"
        "  memwall verify\n"
        "  memwall verify small-dense --contexts 512 --kv int8 --runs 11\n"
        "  memwall verify --trace default\n"
        "  memwall verify llama-3.2-1b.gguf --trace requests.csv --load 0.7 --sequences 8\n"
        "  memwall verify llama-3.2-1b.gguf --json > verify.json");
    app->callback([o, app, &action = command.action] {
        if (!o->run.trace.source.empty() && app->count("--kv") == 0) o->run.kv = {"f16"};
        action = [o] { return run(*o); };
    });
}

}  // namespace memwall::cli
