// Every kernel and attention case as a share of the read bandwidth of the same moment: medians over rounds,
// then over processes (a process has a regime, KERNELS section 5). Run it on a quiet machine.
#include <fmt/core.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>

#include "kernels/bench/paired.h"

using namespace memwall::kernels;
using namespace memwall::kernels::bench;

namespace {

struct Options {
    int processes = 3, rounds = 9, gib = 2;
    std::vector<int> threads = {1, 2};
    std::ptrdiff_t near = prefetch().near, far = prefetch().far;
    int streams = prefetch().streams, run_ahead_from = prefetch().run_ahead_from;
    std::string isa, only;
    bool child = false;
};

constexpr std::int64_t kK = 4096;
constexpr int kDim = 128, kContextPages = 64, kPrefillTokens = 96, kPrefillPanels = 256;

/// What the job of a case needs beside the region it reads.
struct Inputs {
    Activations activations;
    std::vector<float> y, row_scales, q;
};

struct Case {
    std::string name;
    enum Kind { decode, prefill, attention } kind = decode;
    PanelFormat format = PanelFormat::w8;
    KvFormat kv = KvFormat::f16;
    int digits = 1, heads = 1;
    bool shuffled = false;
};

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    const auto weights = [&](const char* name, PanelFormat f, int digits) {
        cases.push_back({name, Case::decode, f, KvFormat::f16, digits});
    };
    weights("W4A8 g32 (Q4_0)", PanelFormat::w4g32, 1);
    weights("W4A16 g32", PanelFormat::w4g32, 2);
    weights("W4A8 g128", PanelFormat::w4g128, 1);
    weights("W4A16 g128", PanelFormat::w4g128, 2);
    weights("Q4_K A8", PanelFormat::q4k, 1);
    weights("W8A8 per row", PanelFormat::w8, 1);
    weights("W8A8 g32 (Q8_0)", PanelFormat::w8g32, 1);
    weights("fp16", PanelFormat::f16, 1);
    for (const int heads : {1, 4, 8})
        for (const auto& [name, kv, digits] : {std::tuple{"fp16", KvFormat::f16, 1},
                                               {"int8, 1 digit", KvFormat::int8, 1},
                                               {"int8, 2 digits", KvFormat::int8, 2},
                                               {"int4, 1 digit", KvFormat::int4, 1},
                                               {"int4, 2 digits", KvFormat::int4, 2}})
            cases.push_back(
                {fmt::format("attention {}, G = {}", name, heads), Case::attention, {}, kv, digits, heads});
    cases.push_back({"attention fp16, G = 1, random pages", Case::attention, {}, KvFormat::f16, 1, 1, true});
    cases.push_back(
        {"attention int8, 1 digit, G = 1, random pages", Case::attention, {}, KvFormat::int8, 1, 1, true});
    cases.push_back(
        {"attention int4, 1 digit, G = 1, random pages", Case::attention, {}, KvFormat::int4, 1, 1, true});
    for (const auto& [name, f] : {std::pair{"W4A8 g32", PanelFormat::w4g32},
                                  {"W4A8 g128", PanelFormat::w4g128},
                                  {"Q4_K A8", PanelFormat::q4k},
                                  {"W8A8 per row", PanelFormat::w8},
                                  {"W8A8 g32", PanelFormat::w8g32},
                                  {"fp16", PanelFormat::f16}})
        cases.push_back({fmt::format("prefill {}, 96 tokens", name), Case::prefill, f, KvFormat::f16, 1});
    return cases;
}

Inputs inputs_of(const Case& c) {
    std::mt19937 rng(7);
    std::normal_distribution<float> normal;
    const auto draw = [&](std::size_t n, float scale) {
        std::vector<float> x(n);
        for (float& v : x) v = scale * normal(rng);
        return x;
    };
    Inputs in;
    if (c.kind == Case::attention) {
        in.q = draw(static_cast<std::size_t>(c.heads * kDim), 0.01f);  // scores near 0: every token counts
        return in;
    }
    const std::int64_t m = c.kind == Case::decode ? 1 : kPrefillTokens;
    in.activations = quantize_activations(draw(static_cast<std::size_t>(m * kK), 1), m, c.format, c.digits);
    const std::size_t panel =
        block_bytes(panel_layout(c.format)) * static_cast<std::size_t>(kK / panel_layout(c.format).block);
    const std::size_t rows = (c.kind == Case::decode ? kRegionBytes / panel : kPrefillPanels) * kPanelRows;
    in.y.resize(rows * static_cast<std::size_t>(m));
    in.row_scales.assign(rows, 0.01f);
    return in;
}

MatmulJob job_of(const Case& c, Inputs& in, const std::uint8_t* region) {
    const Activations& a = in.activations;
    MatmulJob job{};
    job.format = c.format;
    job.digits = a.digits;
    job.m = a.m;
    job.rows = static_cast<std::int64_t>(in.row_scales.size());
    job.blocks = kK / panel_layout(c.format).block;
    job.panel_bytes = block_bytes(panel_layout(c.format)) * static_cast<std::size_t>(job.blocks);
    job.panels = region;
    job.row_scales = in.row_scales.data();
    job.padded_k = a.padded_k;
    job.codes = a.codes.data();
    job.scales = a.scales.data();
    job.offsets = a.offsets.data();
    job.sums = a.sums.data();
    job.values = a.values.data();
    job.prefetch = prefetch();
    job.y = in.y.data();
    job.y_stride = job.rows;
    return job;
}

double one_sample(const Case& c, Inputs& in, const Kernels& k, Paired& paired, int threads) {
    const std::uint8_t* region = paired.next_region();
    if (c.kind == Case::attention) {
        const KvPageLayout layout = kv_page_layout(c.kv, kDim, kDim);
        const std::size_t contexts = kRegionBytes / (layout.bytes() * kContextPages);
        std::vector<PageRef> pages;
        for (std::size_t i = 0; i < contexts * kContextPages; ++i)
            pages.push_back({region + i * layout.bytes(), 0, kPageTokens});
        if (c.shuffled) std::shuffle(pages.begin(), pages.end(), std::mt19937(3));
        return paired.ratio(static_cast<double>(pages.size() * layout.bytes()), [&](int thread) {
            AttentionPart part;
            const Range mine = share_of(contexts, thread, threads);
            const auto context = [&](std::size_t i) {
                return i < mine.last ? std::span(pages).subspan(i * kContextPages, kContextPages)
                                     : std::span<const PageRef>();
            };
            for (std::size_t i = mine.first; i < mine.last; ++i)
                attend(k, layout, context(i), in.q, 0.1f, c.digits, part, context(i + 1));
        });
    }
    const MatmulJob whole = job_of(c, in, region);
    const auto work = [&](int thread) {
        MatmulJob job = whole;
        const Range mine = share_of(static_cast<std::size_t>(job.rows / kPanelRows), thread, threads);
        job.first_panel = static_cast<std::int64_t>(mine.first);
        job.last_panel = static_cast<std::int64_t>(mine.last);
        k.matmul(job);
    };
    if (c.kind == Case::decode)
        return paired.ratio(
            static_cast<double>(whole.panel_bytes) * static_cast<double>(whole.rows / kPanelRows), work);
    const double operations = 2.0 * static_cast<double>(whole.rows) * kK * kPrefillTokens;
    return paired.ratio_to_peak(operations, work, [&](int) {
        return static_cast<double>(c.format == PanelFormat::f16 ? k.peak_f32(1'000'000)
                                                                : k.peak_int8(1'000'000));
    });
}

const Kernels& chosen(const Options& o) {
    if (o.isa.empty()) return best_kernels();
    for (const Kernels* k : runnable_kernels())
        if (o.isa == k->isa) return *k;
    throw CLI::ValidationError("--isa", o.isa + " does not run here");
}

/// One process: lines "threads TAB case TAB median", and "read", "again", "unclean" as cases.
int run_child(const Options& o) {
    set_prefetch({o.near, o.far, o.streams, o.run_ahead_from});
    const Kernels& k = chosen(o);
    const HugeBuffer set = working_set(static_cast<std::size_t>(o.gib) << 30, 1);
    std::mt19937 rng(std::random_device{}());
    for (const int threads : o.threads) {
        ThreadTeam team(threads);
        Paired paired(team, set, best_kernels());
        std::vector<Case> cases = all_cases();
        std::erase_if(cases, [&](const Case& c) { return c.name.find(o.only) == std::string::npos; });
        std::vector<Inputs> inputs;
        for (const Case& c : cases) inputs.push_back(inputs_of(c));
        std::vector<std::vector<double>> ratios(cases.size());
        std::vector<std::size_t> order(cases.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        for (int round = -1; round < o.rounds; ++round) {  // the first one warms up
            std::shuffle(order.begin(), order.end(), rng);
            for (const std::size_t i : order) {
                const double r = one_sample(cases[i], inputs[i], k, paired, threads);
                if (round >= 0) ratios[i].push_back(r);
            }
        }
        for (std::size_t i = 0; i < cases.size(); ++i)
            fmt::print("{}\t{}\t{}\n", threads, cases[i].name, median(ratios[i]));
        fmt::print("{}\t{}\t{}\n", threads, "read GB/s", median(paired.reads()) / 1e9);
        fmt::print("{}\t{}\t{}\n", threads, "probe", static_cast<int>(paired.access()));
        fmt::print("{}\t{}\t{}\n", threads, "samples taken again", paired.samples_again());
        fmt::print("{}\t{}\t{}\n", threads, "samples on the CPU clock", paired.unclean());
        fmt::print("{}\t{}\t{}\n", threads, "share on huge pages",
                   static_cast<double>(set.huge_bytes()) / static_cast<double>(set.bytes()));
        std::fflush(stdout);
    }
    return 0;
}

int run_parent(const Options& o, const std::string& command) {
    using Key = std::pair<std::string, int>;
    std::map<Key, std::vector<double>> results;
    for (int p = 0; p < o.processes; ++p) {
        std::FILE* child = popen(command.c_str(), "r");
        if (child == nullptr) return 70;
        char line[512];
        while (std::fgets(line, sizeof line, child) != nullptr) {
            std::istringstream in(line);
            std::string threads, name, value;
            if (std::getline(in, threads, '\t') && std::getline(in, name, '\t') && std::getline(in, value))
                results[{name, std::stoi(threads)}].push_back(std::stod(value));
        }
        if (pclose(child) != 0) return 70;
    }
    fmt::print("{}, {} GiB, {} rounds, median of {} processes [their range]; x read, prefill x peak\n\n",
               chosen(o).isa, o.gib, o.rounds, o.processes);
    std::vector<std::string> names;
    for (const Case& c : all_cases()) names.push_back(c.name);
    for (const char* n :
         {"read GB/s", "probe", "samples taken again", "samples on the CPU clock", "share on huge pages"})
        names.emplace_back(n);
    fmt::print("| {:<45} |", "case");
    for (const int t : o.threads) fmt::print(" {:<22} |", fmt::format("{} thread{}", t, t == 1 ? "" : "s"));
    fmt::print("\n| --- |{}\n", o.threads.size() == 2 ? " --- | --- |" : " --- |");
    for (const std::string& name : names) {
        if (results.count({name, o.threads.front()}) == 0) continue;
        fmt::print("| {:<45} |", name);
        for (const int t : o.threads) {
            const std::vector<double>& x = results[{name, t}];
            const auto [low, high] = std::minmax_element(x.begin(), x.end());
            fmt::print(" {:<22} |", fmt::format("{:.3f} [{:.3f}, {:.3f}]", median(x), *low, *high));
        }
        fmt::print("\n");
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CLI::App app("Kernels of this machine as shares of its read bandwidth and of its peak.");
    app.add_option("--processes", o.processes, "processes, one after the other")
        ->capture_default_str()
        ->check(CLI::Range(1, 100));
    app.add_option("--rounds", o.rounds, "samples of each case in a process")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    app.add_option("--gib", o.gib, "working set")->capture_default_str()->check(CLI::Range(1, 1024));
    app.add_option("--threads", o.threads, "thread counts")->capture_default_str()->delimiter(',');
    app.add_option("--near", o.near, "prefetch distance into L1, bytes")->capture_default_str();
    app.add_option("--far", o.far, "prefetch distance into L2, bytes; 0: none")->capture_default_str();
    app.add_option("--streams", o.streams, "streams of one vector through a matrix")
        ->capture_default_str()
        ->check(CLI::IsMember({1, kStreams}));
    app.add_option("--run-ahead-from", o.run_ahead_from,
                   "vector operations a line from which attention runs ahead; 0: never")
        ->capture_default_str();
    app.add_option("--isa", o.isa, "instruction set instead of the best");
    app.add_option("--only", o.only, "cases whose name holds this text");
    app.add_flag("--child", o.child, "one process, raw medians");
    CLI11_PARSE(app, argc, argv);
    try {
        if (o.child) return run_child(o);
        std::string command = "exec /proc/self/exe";
        char self[4096];
        const ssize_t n = readlink("/proc/self/exe", self, sizeof self);
        command =
            fmt::format("'{}' --child", std::string(self, static_cast<std::size_t>(std::max<ssize_t>(n, 0))));
        for (int i = 1; i < argc; ++i) command += fmt::format(" '{}'", argv[i]);
        return run_parent(o, command);
    } catch (const std::exception& e) {
        fmt::print(stderr, "kernels_bench: {}\n", e.what());
        return 2;
    }
}
