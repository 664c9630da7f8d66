// memwall quantize-lab: what quantizers leave of weights, layers and KV caches.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/base/error.h"
#include "kernels/lab/lab.h"
#include "kernels/lab/lab_view.h"

namespace memwall::cli {
namespace {

struct Options {
    lab::LabRequest request;
    std::string methods;
    bool json = false;
};

/// One line on standard error that is written over; nothing unless that is a terminal.
void show_progress(std::size_t done, std::size_t total, const std::string& name) {
    std::cerr << fmt::format("\r\033[K{}/{} {}", done + 1, total, name) << std::flush;
}

int run(const Options& o) {
    lab::LabRequest request = o.request;
    request.methods = o.methods.empty() ? lab::default_methods() : lab::parse_methods(o.methods);
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (terminal) request.progress = show_progress;
    const lab::LabReport report = lab::run_lab(request);
    if (terminal) std::cerr << "\r\033[K";
    std::cout << (o.json
                      ? lab::lab_json(report)
                      : lab::lab_text(report, static_cast<std::size_t>(terminal_width()), colour_output()));
    return kDone;
}

}  // namespace

void add_quantize_lab(Command command) {
    auto o = std::make_shared<Options>();
    lab::LabRequest& r = o->request;
    CLI::App* app = command.app.add_subcommand(
        "quantize-lab", "What quantizers leave of weights, layer outputs and KV caches, measured on tensors");
    app->add_option("SOURCE", r.source,
                    ".gguf, .safetensors (or its index, or a folder), synthetic:gaussian, "
                    "synthetic:student-t:DF or synthetic:outliers")
        ->required();
    app->add_option("--methods", o->methods, "formats to try, with commas between (all of the usual ones)")
        ->type_name("LIST");
    app->add_option("--tensors", r.tensors, "only tensors with this in their name; * and ? match anything")
        ->type_name("PATTERN");
    app->add_option("--rows", r.rows, "rows of each tensor, spread evenly (as many as take seconds)")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40).description(""));
    app->add_option("--columns", r.columns, "inputs of a synthetic tensor (4096)")->type_name("N");
    app->add_option("--seed", r.seed, "of everything that is random (1)")->type_name("N");
    app->add_option("--limit", r.limit_db, "SQNR in dB that counts as good enough (20: an error of a tenth)")
        ->type_name("DB")
        ->check(CLI::Range(0.0, 100.0));
    app->add_flag("--layer", r.layer,
                  "also GPTQ and AWQ against rounding, by the error of the layer's output");
    app->add_option("--activations", r.activations,
                    "for --layer: a file with inputs [tokens, channels] (synthetic ones)")
        ->type_name("FILE");
    app->add_option("--tokens", r.tokens, "for --layer: inputs; three quarters of them calibrate (2048)")
        ->type_name("N");
    app->add_flag("--kv", r.kv, "also attention over a quantized KV cache, on a synthetic head");
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->footer(
        "Examples:\n"
        "  memwall quantize-lab synthetic:student-t:5 --methods Q4_0,Q4_K,int4-g128,int4-channel\n"
        "  memwall quantize-lab model.gguf --tensors 'blk.*.ffn_down.weight' --layer\n"
        "  memwall quantize-lab ~/models/qwen3-0.6b --kv --json");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
