#include "core/runtime/allocator.h"

#include <algorithm>

#include "core/base/error.h"

namespace memwall::runtime {
namespace {

constexpr std::int64_t kOpenEnd = std::int64_t{1} << 62;

bool same_layout(const Tensor& a, const Tensor& b) {
    return a.bytes == b.bytes && a.type == b.type && a.extents == b.extents;
}

}  // namespace

void Arena::reset(std::int64_t alignment) {
    alignment_ = alignment;
    peak_ = 0;
    free_.assign(1, {0, kOpenEnd});
}

std::int64_t Arena::take(std::int64_t size) {
    size = rounded_up(size, alignment_);
    std::size_t best = free_.size() - 1;
    for (std::size_t i = 0; i + 1 < free_.size(); ++i)
        if (free_[i].size >= size && (best == free_.size() - 1 || free_[i].size <= free_[best].size))
            best = i;
    Block& block = free_[best];
    if (block.size < size) throw Error({}, "a graph of more than 2^62 bytes", "a size that fits a machine");
    const std::int64_t offset = block.offset;
    block.offset += size;
    block.size -= size;
    if (block.size == 0) free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
    peak_ = std::max(peak_, offset + size);
    return offset;
}

void Arena::give(std::int64_t offset, std::int64_t size) {
    size = rounded_up(size, alignment_);
    for (auto block = free_.begin(); block != free_.end(); ++block) {
        if (block->end() == offset) {
            block->size += size;
            const auto next = block + 1;
            if (next != free_.end() && block->end() == next->offset) {
                block->size += next->size;
                free_.erase(next);
            }
            return;
        }
        if (offset + size == block->offset) {
            block->offset = offset;
            block->size += size;
            if (block != free_.begin() && (block - 1)->end() == block->offset) {
                (block - 1)->size += block->size;
                free_.erase(block);
            }
            return;
        }
    }
    const auto after =
        std::find_if(free_.begin(), free_.end(), [&](const Block& b) { return b.offset >= offset; });
    free_.insert(after, {offset, size});
}

void Replay::run(const Graph& graph, std::int64_t alignment) {
    arena_.reset(alignment);
    placements_.assign(static_cast<std::size_t>(graph.size()), Placement{});
    peak_without_logits_ = 0;
    peak_node_ = -1;

    // Every input comes first, in the order of the leafs, used or not.
    for (const TensorId t : graph.leafs()) place(graph, t, -1);
    count_uses(graph);
    std::int32_t node = 0;
    for (const TensorId t : graph.nodes()) {
        place(graph, t, node);
        for (const TensorId operand : graph.operands(graph[t])) release(graph, operand, node);
        ++node;
    }
}

void Replay::count_uses(const Graph& graph) {
    for (const TensorId t : graph.nodes()) {
        const Tensor& tensor = graph[t];
        if (tensor.place == Place::alias) ++at(tensor.root).views;
        for (const TensorId operand : graph.operands(tensor)) ++at(operand).users;
    }
}

void Replay::place(const Graph& graph, TensorId t, std::int32_t node) {
    const Tensor& tensor = graph[t];
    if (tensor.place != Place::arena) return;
    if (info(tensor.op).overwrites && take_over(graph, t, node)) return;
    const std::int64_t before = arena_.peak();
    Placement& p = at(t);
    p.offset = arena_.take(tensor.bytes);
    p.owns = true;
    if (arena_.peak() > before) peak_node_ = node;
    if (tensor.part != Part::logits)
        peak_without_logits_ =
            std::max(peak_without_logits_, p.offset + rounded_up(tensor.bytes, arena_.alignment()));
}

bool Replay::take_over(const Graph& graph, TensorId t, std::int32_t node) {
    const Tensor& tensor = graph[t];
    for (const TensorId operand : graph.operands(tensor)) {
        Placement& from = at(operand);
        const Tensor& source = graph[operand];
        if (!from.owns || source.output || from.users != 1 || from.views != 0) continue;
        if (!same_layout(source, tensor)) continue;
        Placement& p = at(t);
        p.offset = from.offset;
        p.over = operand;
        p.owns = true;
        from.owns = false;
        from.gone_at = node;
        return true;
    }
    return false;
}

void Replay::release(const Graph& graph, TensorId t, std::int32_t node) {
    Placement& p = at(t);
    if (--p.users > 0 || p.views > 0) return;
    TensorId owner = t;
    if (graph[t].place == Place::alias) {
        owner = graph[t].root;
        if (--at(owner).views > 0 || at(owner).users > 0) return;
    }
    Placement& o = at(owner);
    if (!o.owns || graph[owner].output) return;
    arena_.give(o.offset, graph[owner].bytes);
    o.owns = false;
    o.gone_at = node;
}

std::vector<TensorId> Replay::live_at_peak(const Graph& graph) const {
    std::vector<TensorId> live;
    const auto add = [&](TensorId t) {
        const Placement& p = placement(t);
        if (p.offset >= 0 && p.gone_at >= peak_node_) live.push_back(t);
    };
    for (const TensorId t : graph.leafs()) add(t);
    for (const TensorId t : graph.nodes().first(static_cast<std::size_t>(peak_node_ + 1))) add(t);
    return live;
}

}  // namespace memwall::runtime
