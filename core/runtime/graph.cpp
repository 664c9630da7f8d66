#include "core/runtime/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace memwall::runtime {
namespace {

constexpr std::array<std::int64_t, 4> kTypeBytes{4, 2, 4, 8};

/// Far above any machine, and low enough that sums over all tensors cannot overflow.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 44;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;

// Sources: ggml's operator list and the list of operators that may work in place, llama.cpp 0.5.0.
// clang-format off
constexpr OpInfo kOperators[] = {
    {"weight",          Op::weight,          0, 0, Shaped::yes,      false},
    {"cache",           Op::cache,           0, 0, Shaped::yes,      false},
    {"state",           Op::state,           0, 0, Shaped::yes,      false},
    {"input",           Op::input,           0, 0, Shaped::yes,      false},
    {"view",            Op::view,            1, 1, Shaped::yes,      false},
    {"copy",            Op::copy,            2, 2, Shaped::no,       false},
    {"set_rows",        Op::set_rows,        3, 3, Shaped::no,       false},
    {"scale_inplace",   Op::scale_inplace,   1, 1, Shaped::no,       false},
    {"add",             Op::add,             2, 2, Shaped::no,       true},
    {"add_id",          Op::add_id,          3, 3, Shaped::no,       true},
    {"sub",             Op::sub,             2, 2, Shaped::no,       true},
    {"mul",             Op::mul,             2, 2, Shaped::no,       true},
    {"div",             Op::div,             2, 2, Shaped::no,       true},
    {"scale",           Op::scale,           1, 1, Shaped::no,       true},
    {"clamp",           Op::clamp,           1, 1, Shaped::no,       true},
    {"fill",            Op::fill,            1, 1, Shaped::no,       true},
    {"unary",           Op::unary,           1, 1, Shaped::no,       true},
    {"rope",            Op::rope,            2, 3, Shaped::no,       true},
    {"rms_norm",        Op::rms_norm,        1, 1, Shaped::no,       true},
    {"soft_max",        Op::soft_max,        1, 3, Shaped::no,       true},
    {"mul_mat",         Op::mul_mat,         2, 2, Shaped::no,       false},
    {"mul_mat_id",      Op::mul_mat_id,      3, 3, Shaped::no,       false},
    {"get_rows",        Op::get_rows,        2, 2, Shaped::no,       false},
    {"glu",             Op::glu,             1, 2, Shaped::no,       false},
    {"cont",            Op::cont,            1, 1, Shaped::optional, false},
    {"pad",             Op::pad,             1, 1, Shaped::yes,      false},
    {"repeat",          Op::repeat,          1, 1, Shaped::yes,      false},
    {"concat",          Op::concat,          2, 2, Shaped::no,       false},
    {"argsort",         Op::argsort,         1, 1, Shaped::no,       false},
    {"sum_rows",        Op::sum_rows,        1, 1, Shaped::no,       false},
    {"flash_attention", Op::flash_attention, 4, 5, Shaped::no,       false},
    {"ssm_conv",        Op::ssm_conv,        2, 2, Shaped::no,       false},
    {"ssm_scan",        Op::ssm_scan,        7, 7, Shaped::no,       false},
    {"delta_net",       Op::delta_net,       6, 6, Shaped::no,       false},
};
// clang-format on

constexpr bool in_order() {
    for (std::size_t i = 0; i < std::size(kOperators); ++i)
        if (kOperators[i].op != static_cast<Op>(i)) return false;
    return std::size(kOperators) == static_cast<std::size_t>(Op::delta_net) + 1;
}
static_assert(in_order());

std::int64_t product(std::initializer_list<std::int64_t> factors) {
    std::int64_t all = 1;
    for (const std::int64_t f : factors)
        if (__builtin_mul_overflow(all, f, &all))
            throw Error({}, "a tensor of more than 2^63 elements", "a size that fits a machine");
    return all;
}

void check_extents(const Extents& e) {
    for (const std::int64_t n : e)
        if (n < 0 || n > kMaxExtent)
            throw Error({}, fmt::format("an extent of {} in [{}, {}, {}, {}]", n, e[0], e[1], e[2], e[3]),
                        fmt::format("0 to {}", kMaxExtent));
}

std::int64_t bytes_of(Type type, const Extents& e) {
    const std::int64_t bytes = product({kTypeBytes[static_cast<std::size_t>(type)], e[0], e[1], e[2], e[3]});
    if (bytes > kMaxBytes)
        throw Error({}, fmt::format("a tensor of {} bytes", bytes), fmt::format("at most {}", kMaxBytes));
    return bytes;
}

}  // namespace

std::string_view part_name(Part part) {
    constexpr std::string_view names[] = {"other",        "inputs",  "masks",     "attention", "scores",
                                          "feed_forward", "experts", "recurrent", "logits"};
    return names[static_cast<std::size_t>(part)];
}

std::span<const OpInfo> operators() {
    return kOperators;
}

void Graph::clear() {
    tensors_.clear();
    operands_.clear();
    listed_.clear();
    leafs_.clear();
    nodes_.clear();
    layer = -1;
    part = Part::other;
}

std::int64_t Graph::elements(TensorId t) const {
    const Extents& e = (*this)[t].extents;
    return product({e[0], e[1], e[2], e[3]});
}

TensorId Graph::append(Tensor t, std::span<const TensorId> operands) {
    if (tensors_.size() >= kMaxTensors)
        throw Error({}, fmt::format("more than {} tensors", kMaxTensors), "a graph of usual size");
    check_extents(t.extents);
    if (t.place == Place::arena) t.bytes = bytes_of(t.type, t.extents);
    t.layer = layer;
    t.part = part;
    t.operands = static_cast<std::int32_t>(operands_.size());
    t.operand_count = static_cast<std::uint8_t>(operands.size());
    operands_.insert(operands_.end(), operands.begin(), operands.end());
    listed_.push_back(0);
    tensors_.push_back(t);
    return size() - 1;
}

TensorId Graph::leaf(Op op, Type type, const Extents& extents) {
    Tensor t;
    t.op = op;
    t.type = type;
    t.extents = extents;
    t.place = op == Op::input ? Place::arena : Place::outside;
    const TensorId id = append(t, {});
    if (op == Op::input && part == Part::other) tensors_.back().part = Part::inputs;
    return id;
}

TensorId Graph::apply(Op op, std::span<const TensorId> operands, const Extents* extents) {
    Tensor t;
    t.op = op;
    t.extents = extents ? *extents : result_extents(op, operands);
    switch (op) {
        case Op::view:
        case Op::scale_inplace:
        case Op::copy:
        case Op::set_rows: {
            // Views alias their operand; writes alias their destination, the last operand.
            const TensorId source = operands.back();
            t.place = Place::alias;
            t.root = (*this)[source].place == Place::alias ? (*this)[source].root : source;
            t.type = (*this)[source].type;
            break;
        }
        case Op::argsort:
            t.type = Type::i32;
            break;
        case Op::mul_mat:
        case Op::mul_mat_id:
        case Op::get_rows:
        case Op::flash_attention:
        case Op::ssm_conv:
        case Op::ssm_scan:
        case Op::delta_net:
            break;  // f32 whatever the operands are
        default:
            t.type = (*this)[operands.front()].type;
    }
    return append(t, operands);
}

Extents Graph::result_extents(Op op, std::span<const TensorId> operands) const {
    const auto e = [&](std::size_t i) -> const Extents& { return (*this)[operands[i]].extents; };
    switch (op) {
        case Op::copy:
            return e(1);
        case Op::set_rows:
            return e(2);
        case Op::mul_mat:
            return {e(0)[1], e(1)[1], e(1)[2], e(1)[3]};
        case Op::mul_mat_id:
            return {e(0)[1], e(2)[0], e(1)[2], 1};
        case Op::get_rows:
            return {e(0)[0], e(1)[0], e(1)[1], e(1)[2]};
        case Op::glu:
            return operands.size() == 2 ? e(0) : Extents{e(0)[0] / 2, e(0)[1], e(0)[2], e(0)[3]};
        case Op::concat:
            return {e(0)[0] + e(1)[0], e(0)[1], e(0)[2], e(0)[3]};
        case Op::sum_rows:
            return {1, e(0)[1], e(0)[2], e(0)[3]};
        case Op::flash_attention:
            return {e(2)[0], e(0)[2], e(0)[1], e(0)[3]};
        case Op::ssm_conv:
            return {e(1)[1], e(0)[0] - e(1)[0] + 1, e(0)[2], 1};
        case Op::ssm_scan:  // outputs of all tokens, then the new states
            return {elements(operands[1]) + product({e(0)[0], e(0)[1], e(0)[2], e(6)[0]}), 1, 1, 1};
        case Op::delta_net:
            return {product({e(2)[0], e(2)[1]}), product({e(2)[2], e(2)[3]}) + product({e(2)[0], e(2)[3]}), 1,
                    1};
        default:
            return e(0);
    }
}

void Graph::expand(TensorId t) {
    if (listed_[index(t)]) return;
    listed_[index(t)] = 1;
    pending_.push_back({t, 0});
    while (!pending_.empty()) {
        Visit& visit = pending_.back();
        const Tensor& tensor = (*this)[visit.tensor];
        if (visit.next < tensor.operand_count) {
            const TensorId operand = operands_[index(tensor.operands + visit.next++)];
            if (!listed_[index(operand)]) {
                listed_[index(operand)] = 1;
                pending_.push_back({operand, 0});
            }
        } else {
            (tensor.op <= Op::input ? leafs_ : nodes_).push_back(visit.tensor);
            pending_.pop_back();
        }
    }
}

Graph::Mark Graph::mark() const {
    return {size(), static_cast<std::int32_t>(operands_.size()), static_cast<std::int32_t>(leafs_.size()),
            static_cast<std::int32_t>(nodes_.size())};
}

bool Graph::can_repeat(const Mark& from, const Mark& to, TensorId fixed, TensorId moving) const {
    const auto moves = [&](TensorId t) { return t >= moving; };
    const auto known = [&](TensorId t) { return t >= moving || t < fixed; };
    return std::all_of(operands_.begin() + from.operands, operands_.begin() + to.operands, known) &&
           std::all_of(tensors_.begin() + from.tensors, tensors_.begin() + to.tensors,
                       [&](const Tensor& t) { return known(t.root); }) &&
           std::all_of(leafs_.begin() + from.leafs, leafs_.begin() + to.leafs, moves) &&
           std::all_of(nodes_.begin() + from.nodes, nodes_.begin() + to.nodes, moves);
}

void Graph::repeat(const Mark& from, const Mark& to, TensorId moving) {
    const Mark now = mark();
    const std::int32_t shift = now.tensors - from.tensors;
    if (index(size()) + index(to.tensors - from.tensors) > kMaxTensors)
        throw Error({}, fmt::format("more than {} tensors", kMaxTensors), "a graph of usual size");
    const auto moved = [&](TensorId t) { return t >= moving ? t + shift : t; };

    for (std::int32_t i = from.operands; i < to.operands; ++i)
        operands_.push_back(moved(operands_[index(i)]));
    listed_.resize(tensors_.size() + index(to.tensors - from.tensors), 0);
    for (TensorId i = from.tensors; i < to.tensors; ++i) {
        Tensor t = tensors_[index(i)];
        t.root = moved(t.root);
        t.operands += now.operands - from.operands;
        t.layer = layer;
        tensors_.push_back(t);
    }
    const auto list = [&](std::vector<TensorId>& all, std::int32_t first, std::int32_t last) {
        for (std::int32_t i = first; i < last; ++i) {
            const TensorId t = all[index(i)] + shift;
            listed_[index(t)] = 1;
            all.push_back(t);
        }
    };
    list(leafs_, from.leafs, to.leafs);
    list(nodes_, from.nodes, to.nodes);
}

}  // namespace memwall::runtime
