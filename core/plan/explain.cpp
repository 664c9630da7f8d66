#include "core/plan/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/size_text.h"
#include "core/plan/explain_parts.h"
#include "core/plan/placement.h"

namespace memwall::plan {
namespace {

/// What the plan was computed from; carries the sources of its inputs.
struct Ledger {
    const Prepared& p;
    const Knobs& k;
    const Target& t;
    const Plan& plan;

    const Interval<Bytes>& term(Item item) const { return plan.memory.items[static_cast<std::size_t>(item)]; }
    std::string runtime() const {
        return p.runtime.profile->name + (p.runtime.release.empty() ? "" : " " + p.runtime.release);
    }
    LedgerInput field(const char* name, std::int64_t value) const {
        return {name, count_text(value), origin(name)};
    }
    /// Readers note head_dim once where it gives both widths.
    const std::string& origin(const std::string& name) const {
        const bool width = name == "key_dim" || name == "value_dim";
        return p.model.source(
            width && !p.model.sources.count(name) && p.model.sources.count("head_dim") ? "head_dim" : name);
    }
    LedgerInput option(const char* name, const std::string& value) const {
        return {name, value, fmt::format("option --{}", name)};
    }

    LedgerItem weights() const {
        LedgerItem w = leaf("weights", real(term(Item::weights)), Unit::bytes, "");
        const bool stored = p.recipe_from_file;
        std::map<std::string, std::map<std::string, std::pair<int, std::int64_t>>>
            classes;  // class -> format -> tensors, bytes
        for (std::size_t i = 0; i < p.model.tensors.size(); ++i) {
            const model::Tensor& x = p.model.tensors[i];
            auto& [count, bytes] =
                classes[std::string(memory::weight_class_name(memory::weight_class(x.role)))]
                       [quant::format_name(p.formats[i])];
            ++count;
            bytes += quant::tensor_bytes(p.formats[i], x.dims).value;
        }
        for (const auto& [name, formats] : classes) {
            std::int64_t total = 0;
            LedgerItem c = bytes_leaf(name, Bytes(0),
                                      "sum over tensors: rows x ceil(row / block) x block bytes (+ scales)");
            for (const auto& [format, use] : formats) {
                total += use.second;
                c.inputs.push_back({format,
                                    fmt::format("{} in {} tensor{}", bytes_text(Bytes(use.second)), use.first,
                                                use.first == 1 ? "" : "s"),
                                    stored ? "gguf: tensor list" : fmt::format("recipe {}", p.recipe)});
            }
            c.value = real(Interval<Bytes>::exact(Bytes(total)));
            w.children.push_back(std::move(c));
        }
        if (p.output_copy.value > 0)
            w.children.push_back(bytes_leaf("stored_output_copy", p.output_copy,
                                            "the exporter stores a tied output apart, in its own format"));
        if (term(Item::weights).central > p.weights.total.central)
            w.children.push_back(bytes_leaf(
                "second_copy_of_tied_output", term(Item::weights).central - p.weights.total.central,
                "the host keeps the table for look-ups, the card a copy for logits"));
        return w;
    }

    LedgerItem kv_cache() const {
        LedgerItem kv = leaf("kv_cache", real(term(Item::kv_cache)), Unit::bytes, "");
        const memory::KvCells cells = kv_cells(p, k);
        std::map<std::string, int> kinds;
        for (const memory::KvGroup& g : p.kv_groups) {
            const bool latent = g.value_dim == 0;
            std::vector<LedgerInput> in{field("layers", g.layers)};
            in.front().name = "layers of this kind";
            const bool index =
                std::any_of(p.model.layers.begin(), p.model.layers.end(), [&](const auto& layer) {
                    return layer.attention && layer.attention->index_dim == g.key_dim;
                });
            if (latent) {
                in.push_back(field(index ? "index_dim" : "latent_rank", g.key_dim));
                if (!index) in.back().name = "latent_rank + latent_rope_dim";
            } else {
                in.push_back(field("kv_heads", g.kv_heads));
                in.push_back(field("key_dim", g.key_dim));
                in.push_back(field("value_dim", g.value_dim));
            }
            if (g.window > 0)
                in.push_back(k.window > 0 && g.window == k.window + k.sinks
                                 ? option("window", count_text(g.window))
                                 : field("window", g.window));
            in.push_back({"cells", count_text(memory::cells_of(g, cells)), cell_origin(g, cells)});
            in.push_back({"streams", count_text(cells.streams),
                          k.kv_unified ? "--runtime-option kv_unified" : "option --sequences"});
            in.push_back(row("K row", k.kv_k, g.kv_heads, g.key_dim));
            if (!latent) in.push_back(row("V row", k.kv_v, g.kv_heads, g.value_dim));
            const std::string kind = g.fixed_cells > 0 ? "cross_attention"
                                     : g.window > 0    ? "windowed_layers"
                                     : index           ? "index_keys"
                                     : latent          ? "latent_layers"
                                                       : "full_layers";
            kv.children.push_back(
                bytes_leaf(++kinds[kind] == 1 ? kind : fmt::format("{}_{}", kind, kinds[kind]),
                           memory::layer_kv_bytes(g, cells, k.kv_k, k.kv_v) * g.layers,
                           index    ? "layers x streams x cells x index row"
                           : latent ? "layers x streams x cells x latent row"
                                    : "layers x streams x cells x (K row + V row)",
                           std::move(in)));
        }
        return kv;
    }

    LedgerInput row(const char* name, const quant::KvType& type, std::int64_t heads, std::int64_t dim) const {
        return {name, fmt::format("{} B", quant::kv_row_bytes(type, heads, dim).value),
                fmt::format("{}: {} bytes per {} values{}", type.name, type.block_bytes, type.block_len,
                            type.head_bytes > 0 ? fmt::format(" + {} a head", type.head_bytes) : "")};
    }

    std::string cell_origin(const memory::KvGroup& g, const memory::KvCells& cells) const {
        if (g.fixed_cells > 0) return p.model.source("encoder_positions");
        const std::string total = k.engine_context > 0
                                      ? fmt::format("n_ctx {}", count_text(k.engine_context))
                                      : fmt::format("context {} per sequence", count_text(k.context));
        if (g.window > 0 && !cells.windows_full)
            return fmt::format("{}: at most {}, window{} + {} rounded up to {}", runtime(), total,
                               cells.window_multiple > 1 ? " x sequences" : "", cells.window_extra,
                               cells.padding);
        return fmt::format("{}: {} rounded up to {}", runtime(), total,
                           p.runtime.profile->kv_layout == runtime::KvLayout::paged
                               ? p.runtime.profile->block_tokens
                               : cells.padding);
    }

    LedgerItem recurrent() const {
        LedgerItem item = leaf("recurrent_state", real(term(Item::recurrent_state)), Unit::bytes,
                               "sequences x state of all recurrent layers in f32, whatever the context");
        item.inputs.push_back(option("sequences", count_text(k.sequences)));
        std::map<std::int64_t, int> sizes;
        for (const model::Layer& layer : p.engine_model.layers)
            if (layer.recurrent) ++sizes[memory::recurrent_state_elements(*layer.recurrent, p.model.hidden)];
        for (const auto& [elements, layers] : sizes)
            item.inputs.push_back({fmt::format("{} layers", layers),
                                   fmt::format("{} values each", count_text(elements)),
                                   p.model.source("recurrent")});
        return item;
    }

    LedgerItem compute() const;

    LedgerItem simple(Item i, std::string formula, std::vector<LedgerInput> inputs = {}) const {
        return leaf(std::string(item_name(i)), real(term(i)), Unit::bytes, std::move(formula),
                    std::move(inputs));
    }
};

LedgerItem Ledger::compute() const {
    LedgerItem item = simple(Item::compute_buffer, "");
    if (p.runtime.profile->compute == runtime::ComputeRule::family) {
        item.formula = "closed form of the widest layer of the family: nobody measured this runtime";
        return item;
    }
    item.formula = fmt::format(
        "largest extent of the arena when the allocator of {} is replayed over its operators", runtime());
    item.inputs = {option("ubatch", count_text(k.ubatch)),
                   option("flash-attention", k.flash_attention ? "on" : "off")};
    std::map<runtime::Part, Bytes> parts;
    for (const runtime::LiveTensor& x : p.replay->at(engine_settings(k))->at_peak) parts[x.part] += x.bytes;
    for (const auto& [part, bytes] : parts)
        item.inputs.push_back(
            {std::string(runtime::part_name(part)), bytes_text(bytes), "live when the arena was fullest"});
    return item;
}

}  // namespace

LedgerItem explain(const Prepared& p, const Knobs& k, const Target& t, const Plan& plan) {
    const Ledger l{p, k, t, plan};
    LedgerItem root =
        leaf("plan", real(plan.memory.total), Unit::bytes, "memory and speed of this configuration");
    LedgerItem memory = leaf("memory", real(plan.memory.total), Unit::bytes, "");
    const auto add = [&](Item item, LedgerItem row) {
        if (plan.memory.items[static_cast<std::size_t>(item)].high.value > 0)
            memory.children.push_back(std::move(row));
    };
    add(Item::weights, l.weights());
    add(Item::kv_cache, l.kv_cache());
    add(Item::recurrent_state, l.recurrent());
    add(Item::compute_buffer, l.compute());
    add(Item::output_buffer, l.simple(Item::output_buffer, "sequences x vocabulary x 4 bytes",
                                      {l.option("sequences", count_text(k.sequences)),
                                       l.field("vocabulary", p.model.vocabulary)}));
    add(Item::repacked,
        l.simple(Item::repacked,
                 "a rearranged copy of every matrix whose format the CPU's kernels want in another order",
                 {{"instruction set", p.runtime.profile->name, std::string(t.repack_basis)}}));
    if (p.draft)
        add(Item::draft, l.simple(Item::draft, "weights, cache and buffers of the draft",
                                  {{"draft", p.draft->model.id + " " + p.draft->recipe, "option --draft"}}));
    add(Item::projector,
        l.simple(Item::projector, p.deployment.projector.empty()
                                      ? "parameters of the parts beside the text model x 2 bytes"
                                      : "size of the projector file"));
    add(Item::adapter, l.simple(Item::adapter, "size of the adapter", {l.option("lora", p.deployment.lora)}));
    add(Item::overhead, l.simple(Item::overhead,
                                 "process + bytes a vocabulary entry x vocabulary + context" +
                                     std::string(t.discrete ? " + driver context" : ""),
                                 {l.field("vocabulary", p.model.vocabulary)}));
    LedgerItem budget = leaf("budget", real(Interval<Bytes>::exact(plan.memory.budget)), Unit::bytes,
                             "usable by one process - reserve");
    const device::Pool& pool = t.device.pools[t.pool];
    budget.inputs = {{pool.name, bytes_text(pool.capacity), t.device.source(pool.name)},
                     {"usable", bytes_text(pool.usable),
                      t.budget_override.value > 0 ? "option --budget" : "rule " + pool.usable_rule},
                     l.option("reserve", bytes_text(t.reserve))};
    root.children = {std::move(memory), std::move(budget), explain_speed(p, k, t, plan),
                     explain_quality(p, k)};
    return root;
}

const LedgerItem* find_item(const LedgerItem& root, std::string_view name) {
    if (root.name == name) return &root;
    for (const LedgerItem& child : root.children)
        if (const LedgerItem* found = find_item(child, name)) return found;
    return nullptr;
}

}  // namespace memwall::plan
