#include "core/runtime/layer_repeat.h"

#include <algorithm>

namespace memwall::runtime {
namespace {

/// Distinct layers of real models are few; a table that makes more of them is only slower.
constexpr std::size_t kMaxRecords = 16;

}  // namespace

LayerRepeat::LayerRepeat(Graph& graph, bool count_only)
    : graph_(graph), count_only_(count_only), fixed_(graph.size()), before_{graph.mark(), graph.mark()} {}

bool LayerRepeat::same_tensor(const Record& r, TensorId then, TensorId now) const {
    return then >= r.before.from.tensors ? now == then + (before_.from.tensors - r.before.from.tensors)
                                         : then < fixed_ && now == then;
}

bool LayerRepeat::same_value(const Record& r, const Value& then, const Value& now) const {
    if (!then.is_tensor()) return then == now;
    if (!now.is_tensor() || !same_tensor(r, then.tensor(), now.tensor())) return false;
    const Tensor& a = graph_[then.tensor()];
    const Tensor& b = graph_[now.tensor()];
    return a.type == b.type && a.place == b.place && a.extents == b.extents &&
           (a.place != Place::alias || same_tensor(r, a.root, b.root));
}

bool LayerRepeat::same_entry(const Record& r, std::span<const Value> locals,
                             std::span<const Value> shared) const {
    const TensorId then = r.before.from.tensors, now = before_.from.tensors;
    const std::int32_t made = before_.to.tensors - now;
    if (made != r.before.to.tensors - then) return false;
    for (std::size_t i = 0; i < r.values_in.size(); ++i)
        if (!same_value(r, r.values_in[i], i < locals.size() ? locals[i] : shared[i - locals.size()]))
            return false;
    if (count_only_) return true;  // the order of listing does not change what is made

    // What the layer before left unlisted must hang together in the same way, because listing goes on from
    // there. Older operands stop it if they are listed; the record's were, or it would have listed them.
    const auto listed = graph_.listed(now, now + made);
    if (!std::equal(listed.begin(), listed.end(), r.listed.begin())) return false;
    const auto same_operand = [&](TensorId s, TensorId t) {
        return s >= then ? t == s + (now - then) : t < now && graph_.listed(t, t + 1).front() != 0;
    };
    for (std::int32_t i = 0; i < made; ++i) {
        if (listed[static_cast<std::size_t>(i)]) continue;
        const Tensor& a = graph_[then + i];
        const Tensor& b = graph_[now + i];
        const auto from = graph_.operands(a), to = graph_.operands(b);
        if (a.op != b.op || !std::equal(from.begin(), from.end(), to.begin(), to.end(), same_operand))
            return false;
    }
    return true;
}

bool LayerRepeat::repeat(std::int32_t kind, std::span<Value> locals, std::span<Value> shared) {
    const auto record = std::find_if(records_.begin(), records_.end(), [&](const Record& r) {
        return r.kind == kind && same_entry(r, locals, shared);
    });
    if (record == records_.end()) return false;

    Record& r = *record;
    std::int32_t shift = 0;
    if (count_only_) {
        ++r.skipped;
        before_ = r.layer;
    } else {
        const Graph::Mark now = graph_.mark();
        shift = now.tensors - r.layer.from.tensors;
        graph_.repeat(r.layer.from, r.layer.to, r.before.from.tensors);
        before_ = {now, graph_.mark()};
    }
    for (std::size_t i = 0; i < r.values_out.size(); ++i) {
        Value v = r.values_out[i];
        if (moves(r, v)) v.number += shift;
        (i < locals.size() ? locals[i] : shared[i - locals.size()]) = v;
    }
    return true;
}

bool LayerRepeat::moves(const Record& r, const Value& v) const {
    return v.is_tensor() && v.tensor() >= r.before.from.tensors;
}

void LayerRepeat::begin(std::span<const Value> locals, std::span<const Value> shared) {
    open_.before = before_;
    open_.layer.from = graph_.mark();
    open_.values_in.assign(locals.begin(), locals.end());
    open_.values_in.insert(open_.values_in.end(), shared.begin(), shared.end());
    const auto listed = graph_.listed(before_.from.tensors, before_.to.tensors);
    open_.listed.assign(listed.begin(), listed.end());
}

void LayerRepeat::end(std::int32_t kind, std::span<const Value> locals, std::span<const Value> shared) {
    open_.kind = kind;
    open_.layer.to = graph_.mark();
    before_ = open_.layer;
    if (records_.size() >= kMaxRecords) return;
    open_.values_out.assign(locals.begin(), locals.end());
    open_.values_out.insert(open_.values_out.end(), shared.begin(), shared.end());
    const bool known = std::all_of(open_.values_out.begin(), open_.values_out.end(), [&](const Value& v) {
        return !v.is_tensor() || v.tensor() < fixed_ || moves(open_, v);
    });
    if (known && graph_.can_repeat(open_.layer.from, open_.layer.to, fixed_, open_.before.from.tensors))
        records_.push_back(open_);
}

double LayerRepeat::skipped_bytes(std::int64_t alignment) const {
    double sum = 0;
    for (const Record& r : records_)
        for (TensorId t = r.layer.from.tensors; t < r.layer.to.tensors; ++t)
            sum += static_cast<double>(rounded_up(graph_[t].bytes, alignment)) * r.skipped;
    return sum;
}

}  // namespace memwall::runtime
