#include "core/view/engine_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/shell_word.h"

namespace memwall::view {
namespace {

/// An option that takes a file may also be a size or a word.
bool is_file(const std::string& text) {
    return !text.empty() && ::access(text.c_str(), R_OK) == 0;
}

}  // namespace

std::string engine_flags(const std::string& engine, const plan::Prepared& p, const plan::Knobs& k,
                         const plan::Target& t) {
    if (engine != "llama.cpp") throw Error("--emit", fmt::format("'{}'", engine), "llama.cpp");
    // Options of llama-server, release 0.5.0 (tools/server/README.md at 00dc8057); -c is the total over all
    // slots, and without -np the server makes four that share one cache.
    const auto file_of = [](const plan::Prepared& m) {
        return shell_word(m.model.tensors_from_file ? m.deployment.model
                                                    : fmt::format("{}-{}.gguf", m.model.id, m.recipe));
    };
    std::string flags = fmt::format("-m {} -c {} -b {} -ub {} -np {}", file_of(p),
                                    k.engine_context > 0 ? k.engine_context : k.context * k.sequences,
                                    k.batch, k.ubatch, k.sequences);
    if (k.kv_unified) flags += " --kv-unified";
    flags +=
        fmt::format(" -ctk {} -ctv {} -fa {}", k.kv_k.name, k.kv_v.name, k.flash_attention ? "on" : "off");
    if (k.swa_full) flags += " --swa-full";
    if (!k.mmap) flags += " --load-mode none";
    if (!k.repack) flags += " --no-repack";
    if (k.threads > 0) flags += fmt::format(" -t {}", k.threads);
    const bool cpu = t.processor == device::ProcessorKind::cpu;
    flags += fmt::format(" -ngl {}", cpu                ? 0
                                     : k.gpu_layers < 0 ? static_cast<std::int64_t>(p.model.layers.size()) + 1
                                                        : k.gpu_layers);
    if (k.kv_on_host) flags += " -nkvo";
    if (k.experts_on_host) flags += " -cmoe";
    if (p.projector.value > 0 && is_file(p.deployment.projector))
        flags += " -mm " + shell_word(p.deployment.projector);
    if (is_file(p.deployment.lora)) flags += " --lora " + shell_word(p.deployment.lora);
    // The draft is planned whole beside its target, with the target's cache types.
    if (p.draft)
        flags +=
            fmt::format(" --spec-type draft-simple -md {} --spec-draft-n-max {} -ngld {} -ctkd {} -ctvd {}",
                        file_of(*p.draft), k.draft_tokens, cpu ? "0" : "all", k.kv_k.name, k.kv_v.name);
    return flags;
}

}  // namespace memwall::view
