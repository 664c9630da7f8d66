// What does not change while a search turns knobs: done once per model, recipe, runtime and device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/memory/kv_cache.h"
#include "core/memory/weights.h"
#include "core/model/model.h"
#include "core/plan/deployment.h"
#include "core/plan/plan.h"
#include "core/quality/weight_quality.h"
#include "core/quant/recipe.h"
#include "core/runtime/compute_buffer.h"
#include "core/runtime/profile.h"
#include "core/speed/decode.h"
#include "core/speed/machine.h"
#include "core/speed/workload.h"

namespace memwall::plan {

/// The numbers a search varies. Everything is resolved: no zero means "default" any more.
struct Knobs {
    std::int64_t context = 4096, sequences = 1;
    std::int64_t batch = 2048, ubatch = 512;
    std::int64_t engine_context = 0;  ///< llama.cpp n_ctx set directly; 0 = context x sequences
    std::int64_t outputs_max = 0;     ///< llama.cpp n_outputs_max; 0 = batch
    quant::KvType kv_k, kv_v;
    bool flash_attention = true;
    bool kv_unified = false, swa_full = false, mmap = true, repack = true;
    std::int64_t window = 0, sinks = 0;
    std::int64_t prompt = 512, cached_prompt = 0, generate = 128;
    std::int64_t images = 0;
    std::int64_t gpu_layers = -1;  ///< -1 = all
    bool kv_on_host = false, experts_on_host = false;
    std::int64_t draft_tokens = 4;
    double acceptance = 0;  ///< 0 = no speculation or by evidence
    std::int64_t threads = 0;
};

struct Prepared {
    Deployment deployment;  ///< with all defaults filled in
    model::Model model;
    model::Model engine_model;  ///< as the runtime sees it: windows it ignores removed; tensors left out
    std::vector<quant::Format> formats;
    std::string recipe;  ///< name of the recipe in use
    quant::RecipeKind recipe_kind = quant::RecipeKind::llama_cpp;
    bool recipe_from_file = false;
    bool recipe_loads = true;  ///< the runtime reads files of this recipe
    Bytes output_copy;         ///< a tied output that the recipe's exporter stores apart; in weights.total
    runtime::Selected runtime;
    memory::Weights weights;
    std::vector<memory::KvGroup> kv_groups;
    std::vector<std::vector<int>>
        layer_kv_groups;  ///< indices into kv_groups by layer; empty = owns no cache
    Bytes recurrent_per_sequence;
    std::vector<Bytes> layer_state;  ///< of one sequence, by layer; adds up to recurrent_per_sequence
    std::shared_ptr<runtime::ComputeBufferMemo>
        replay;  ///< of engine_model; null when the runtime has no operator tables
    Bytes projector, adapter;
    std::int64_t tokens_per_image = 0;
    speed::Workload workload;
    quality::RecipeInfo recipe_info;
    quality::WeightQuality quality;
    std::shared_ptr<const Prepared> draft;
    std::vector<std::string> warnings;
};

/// A device as one prepared model uses it.
struct Target {
    device::Device device;
    device::ProcessorKind processor = device::ProcessorKind::cpu;
    std::size_t pool = 0;  ///< index into device.pools: where the processor's weights live
    int host_pool = -1;    ///< index of host memory when the processor has its own; -1 = none or unknown
    Bytes mapped;    ///< pages of the file that stay mapped, less than the tensors where ends were copied
    Bytes repacked;  ///< copies this CPU makes at load
    bool repacked_uncertain = false;  ///< instruction set unknown: none to all
    std::string_view repack_basis = kExact;
    bool measured_buffers = true;  ///< a CPU of the kind the runtime's buffers were measured on
    bool discrete = false;         ///< the processor has memory of its own
    Bytes reserve, budget_override;
    Bytes largest_allocation;    ///< limit of one buffer on the processor; 0 = none known
    bool machine_known = false;  ///< bandwidth and a prior for the processor exist
    speed::Machine machine;
    bool host_machine_known = false;  ///< a CPU of the device beside a card
    speed::Machine host_machine;
    Reason refusal = Reason::fits;  ///< not fits: the pair is unsupported
    std::shared_ptr<const Target> draft;
};

/// Reads options that name other models through this: the command passes model::open_model.
using OpenModel = model::Model (*)(const std::string& argument);

/// Throws Error for a recipe, KV type or runtime that does not exist or does not go together.
Prepared prepare(model::Model model, const Deployment& deployment, OpenModel open_draft = nullptr);
/// The same model and runtime under another recipe of the same kind (all GGUF, or all checkpoint): what a
/// search turns most often. Shares the replays already made. Throws Error as prepare() does, and for another
/// kind.
Prepared with_recipe(const Prepared& prepared, const std::string& quant);
Target aim(const Prepared& prepared, device::Device device);
/// Throws Error for values that contradict each other or the runtime.
Knobs resolve_knobs(const Prepared& prepared, const Target& target);

/// The cache as the quality rules see it: a latent cache holds no values, a model without attention nothing.
quality::KvChoice kv_choice(const Prepared& prepared, const Knobs& knobs);

/// The only place where numbers are computed. Microseconds once a replay is known, thread-safe.
Plan evaluate(const Prepared& prepared, const Knobs& knobs, const Target& target);

}  // namespace memwall::plan
