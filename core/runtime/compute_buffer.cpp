#include "core/runtime/compute_buffer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/runtime/allocator.h"
#include "core/runtime/graph_interpreter.h"

namespace memwall::runtime {
namespace {

using model::Layer;
using model::Model;

// Bounds for what a hostile file can ask for.
constexpr std::size_t kMaxLayers = 4096;
constexpr std::int64_t kMaxVocabulary = std::int64_t{1} << 40;

/// Share of cases that intervals of stand-ins are meant to hold.
constexpr double kStandInLevel = 0.9;
/// A release that nobody checked: engines have grown rather than shrunk their graphs. Assumed, not measured.
constexpr double kOtherRelease = 1.05;

template <class Predicate>
bool any_layer(const Model& m, Predicate p) {
    return std::any_of(m.layers.begin(), m.layers.end(), p);
}

/// The stand-in for an architecture without a table, by what its layers contain.
std::string_view family_of(const Model& m) {
    if (m.embedder || m.layers.empty()) return "encoder";
    const bool attention = any_layer(m, [](const Layer& l) { return l.attention.has_value(); });
    if (any_layer(m, [](const Layer& l) { return l.recurrent.has_value(); })) {
        if (any_layer(m, [](const Layer& l) { return l.recurrent && l.attention; })) return "parallel";
        const bool fed = any_layer(m, [](const Layer& l) { return l.feed_forward || l.experts; });
        return attention || fed ? "recurrent" : "recurrent_only";
    }
    const std::pair<std::string_view, bool> kinds[] = {
        {"latent", any_layer(m, [](const Layer& l) { return l.attention && l.attention->latent_rank > 0; })},
        {"biased_experts", any_layer(m, [](const Layer& l) { return l.experts && l.experts->bias; })},
        {"fused", any_layer(m,
                            [](const Layer& l) {
                                return (l.attention && l.attention->fused_qkv) ||
                                       (l.feed_forward && l.feed_forward->fused_gate_up);
                            })},
        {"ungated", any_layer(m, [](const Layer& l) {
             return (l.feed_forward && !l.feed_forward->gated) || (l.experts && !l.experts->gated);
         })}};
    for (const auto& [name, applies] : kinds)
        if (applies) return name;
    return "plain";
}

/// The layers with their recurrent parts removed.
LayerValues attention_only(const Model& model) {
    Model m;
    m.layers = model.layers;
    for (Layer& l : m.layers) l.recurrent.reset();
    return layer_values(m, false);
}

Bytes scaled(Bytes bytes, double factor) {
    return Bytes(static_cast<std::int64_t>(bytes.as_double() * factor));
}

std::vector<LiveTensor> tensors_at_peak(const Program& program, const Graph& graph, const Replay& replay,
                                        std::int64_t alignment) {
    std::vector<LiveTensor> live;
    Bytes unused(replay.peak());
    for (const TensorId id : replay.live_at_peak(graph)) {
        const Tensor& t = graph[id];
        const Bytes bytes(rounded_up(t.bytes, alignment));
        const std::string_view name =
            t.name > 0 ? std::string_view(program.names[static_cast<std::size_t>(t.name)]) : info(t.op).name;
        live.push_back({name, t.layer, bytes, t.part});
        unused -= bytes;
    }
    if (unused > Bytes(0)) live.push_back({"unused", -1, unused, Part::other});
    std::stable_sort(live.begin(), live.end(),
                     [](const LiveTensor& a, const LiveTensor& b) { return a.bytes > b.bytes; });
    return live;
}

}  // namespace

/// What one thread needs to replay; kept from call to call so that nothing is allocated in the long run.
struct ReplayModel::Scratch {
    Interpreter interpreter;
    Graph graph;
    Replay replay;
    std::vector<std::int64_t> model_values;

    static Scratch& of_this_thread() {
        thread_local Scratch scratch;
        return scratch;
    }
    GraphInput input(const ReplayModel& model, int def, const LayerValues& layers, const BatchValues& batch) {
        model_values = model.model_values_;
        std::copy(batch.begin(), batch.end(), model_values.begin());
        return {model.tables_->program(), def, model_values, layers};
    }
};

ReplayModel::ReplayModel(const OperatorTables& tables, const Model& model, std::string_view release)
    : tables_(&tables),
      cell_model_(cell_model(model, tables.cell_rules())),
      architecture_(model.architecture) {
    if (!release.empty() && release != tables.release()) unknown_release_ = release;
    const std::size_t layers = model.layers.empty() ? model.encoder.size() : model.layers.size();
    if (layers == 0 || layers > kMaxLayers)
        throw Error(model.id, fmt::format("{} layers", layers), fmt::format("1 to {}", kMaxLayers));
    const bool windows = tables.cell_rules().honours_windows(model.architecture);
    vocabulary_ = model.embedder ? 0 : std::clamp(model.vocabulary, std::int64_t{0}, kMaxVocabulary);
    model_values_ = model_values(model, windows);
    layers_ = layer_values(model, windows);
    const int own = tables.table_of(model.architecture);
    known_ = own >= 0;
    if (known_) {
        family_ = {model.architecture, own, 1, 1};
    } else {
        family_ = tables.family(family_of(model));
        if (any_layer(model, [](const Layer& l) { return l.recurrent.has_value(); }))
            attention_only_ = attention_only(model);
    }
}

EngineCells ReplayModel::cells(const EngineSettings& settings) const {
    return resolve_cells(cell_model_, settings, tables_->cell_rules().padding);
}

ReplayKey ReplayModel::key(const EngineSettings& settings) const {
    return {prompt_batch(cells(settings), settings)};
}

std::size_t ReplayKey::hash() const {
    std::uint64_t h = 0x9e3779b97f4a7c15;  // FNV-like: multiply and fold, enough for a table
    for (const std::int64_t v : prompt) {
        h = (h ^ static_cast<std::uint64_t>(v)) * 0xff51afd7ed558ccd;
        h ^= h >> 32;
    }
    return h;
}

ComputeBuffer ReplayModel::replay(Scratch& s, int def, const LayerValues& layers, const EngineCells& cells,
                                  const EngineSettings& settings, std::string& unmet) const {
    const std::int64_t alignment = tables_->alignment();
    const BatchValues prompt = prompt_batch(cells, settings);
    const BatchValues token = token_batch(cells, settings);
    // The token graph decides only when a micro-batch has hardly more tokens than there are sequences. What
    // it takes if nothing is ever freed is found quickly and usually settles the matter.
    const double token_bound =
        prompt == token ? 0
                        : s.interpreter.total_bytes(s.input(*this, def, layers, token), s.graph, alignment);

    s.interpreter.build(s.input(*this, def, layers, prompt), s.graph);
    unmet = s.interpreter.unmet();
    s.replay.run(s.graph, alignment);
    ComputeBuffer buffer;
    buffer.nodes = static_cast<std::int32_t>(s.graph.nodes().size());
    buffer.bytes = Interval<Bytes>::exact(Bytes(s.replay.peak()));
    buffer.touched =
        Bytes(std::min(s.replay.peak(), s.replay.peak_without_logits() + 4 * vocabulary_ * cells.sequences));
    buffer.at_peak = tensors_at_peak(tables_->program(), s.graph, s.replay, alignment);
    if (token_bound <= static_cast<double>(s.replay.peak())) return buffer;

    s.interpreter.build(s.input(*this, def, layers, token), s.graph);
    s.replay.run(s.graph, alignment);
    if (Bytes(s.replay.peak()) > buffer.bytes.central) {
        buffer.bytes = Interval<Bytes>::exact(Bytes(s.replay.peak()));
        buffer.touched = buffer.bytes.central;
        buffer.at_peak = tensors_at_peak(tables_->program(), s.graph, s.replay, alignment);
        buffer.token_graph_decides = true;
    }
    return buffer;
}

Bytes ReplayModel::try_replay(Scratch& s, int def, const LayerValues& layers, const EngineCells& cells,
                              const EngineSettings& settings) const {
    try {
        std::string unmet;
        return replay(s, def, layers, cells, settings, unmet).bytes.central;
    } catch (const Error&) {
        return Bytes(0);  // this table needs what these layers do not have
    }
}

void ReplayModel::add_recurrent_bounds(Scratch& s, const EngineCells& cells, const EngineSettings& settings,
                                       Interval<Bytes>& bytes) const {
    Bytes most = bytes.central;
    for (const int def : tables_->recurrent_tables())
        most = std::max(most, try_replay(s, def, layers_, cells, settings));
    const Bytes least = try_replay(s, tables_->family("plain").def, attention_only_, cells, settings);
    bytes.low = std::min(bytes.central, least);
    bytes.high = most;
}

ComputeBuffer ReplayModel::compute_buffer(const EngineSettings& settings) const {
    Scratch& scratch = Scratch::of_this_thread();
    const EngineCells c = cells(settings);
    std::string unmet;
    ComputeBuffer buffer = replay(scratch, family_.def, layers_, c, settings, unmet);
    if (known_ && unmet.empty() && unknown_release_.empty()) return buffer;

    std::string basis = fmt::format("operator table of llama.cpp {}", tables_->release());
    OperatorTables::Family margin = family_;
    if (!known_) {
        basis += fmt::format(" for {} decoders in place of {}", family_.name, architecture_);
        if (!attention_only_.layers.empty()) add_recurrent_bounds(scratch, c, settings, buffer.bytes);
    } else if (!unmet.empty()) {
        basis += fmt::format(" for {} where it is not exact: {}", architecture_, unmet);
        margin = tables_->family("plain");
    }
    if (!unknown_release_.empty()) {
        basis += fmt::format(", not checked for {}", unknown_release_);
        margin.high *= kOtherRelease;
    }
    buffer.bytes.low = scaled(buffer.bytes.low, margin.low);
    buffer.bytes.high = scaled(buffer.bytes.high, margin.high);
    buffer.bytes.level = kStandInLevel;
    buffer.bytes.basis = intern(basis);
    return buffer;
}

Bytes ReplayModel::token_graph_bytes(const EngineSettings& settings) const {
    Scratch& s = Scratch::of_this_thread();
    const BatchValues token = token_batch(cells(settings), settings);
    s.interpreter.build(s.input(*this, family_.def, layers_, token), s.graph);
    s.replay.run(s.graph, tables_->alignment());
    return Bytes(s.replay.peak());
}

ComputeBuffer compute_buffer(const OperatorTables& tables, const Model& model, const EngineSettings& settings,
                             std::string_view release) {
    return ReplayModel(tables, model, release).compute_buffer(settings);
}

std::shared_ptr<const ComputeBuffer> ComputeBufferMemo::at(const EngineSettings& settings) {
    const ReplayKey key = model_.key(settings);
    {
        const std::lock_guard lock(mutex_);
        const auto known = known_.find(key);
        if (known != known_.end()) return known->second;
    }
    auto fresh = std::make_shared<const ComputeBuffer>(model_.compute_buffer(settings));
    const std::lock_guard lock(mutex_);
    if (known_.size() >= capacity_) known_.clear();
    return known_.try_emplace(key, std::move(fresh)).first->second;
}

}  // namespace memwall::runtime
