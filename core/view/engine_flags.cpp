#include "core/view/engine_flags.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace memwall::view {

std::string engine_flags(const std::string& engine, const plan::Prepared& p, const plan::Knobs& k,
                         const plan::Target& t) {
    if (engine != "llama.cpp") throw Error("--emit", fmt::format("'{}'", engine), "llama.cpp");
    // Options of llama-server and llama-cli, release 0.5.0; -c is the total over all slots.
    const bool file = p.model.tensors_from_file;
    std::string flags =
        fmt::format("-m {} -c {} -b {} -ub {}",
                    file ? p.deployment.model : fmt::format("{}-{}.gguf", p.model.id, p.recipe),
                    k.engine_context > 0 ? k.engine_context : k.context * k.sequences, k.batch, k.ubatch);
    if (k.sequences > 1) flags += fmt::format(" -np {}", k.sequences);
    if (k.kv_unified) flags += " --kv-unified";
    flags +=
        fmt::format(" -ctk {} -ctv {} -fa {}", k.kv_k.name, k.kv_v.name, k.flash_attention ? "on" : "off");
    if (k.swa_full) flags += " --swa-full";
    if (!k.mmap) flags += " --no-mmap";
    if (!k.repack) flags += " --no-repack";
    if (k.threads > 0) flags += fmt::format(" -t {}", k.threads);
    if (t.processor == device::ProcessorKind::cpu)
        flags += " -ngl 0";
    else
        flags +=
            fmt::format(" -ngl {}", k.gpu_layers < 0 ? static_cast<std::int64_t>(p.model.layers.size()) + 1
                                                     : k.gpu_layers);
    if (k.kv_on_host) flags += " -nkvo";
    if (k.experts_on_host) flags += " -cmoe";
    if (p.draft)
        flags += fmt::format(" -md {} --draft-max {}", p.draft->model.id + "-" + p.draft->recipe + ".gguf",
                             k.draft_tokens);
    return flags;
}

}  // namespace memwall::view
