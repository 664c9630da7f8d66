// A computation graph as an engine's allocator sees it: tensors with extents, operands and a place, in the
// order in which the engine lists them. No values, no strides: every tensor that gets memory is contiguous.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace memwall::runtime {

using TensorId = std::int32_t;
using Extents = std::array<std::int64_t, 4>;  ///< extents[0] varies fastest

/// `size` rounded up to a multiple of `step`, both positive.
constexpr std::int64_t rounded_up(std::int64_t size, std::int64_t step) {
    return (size + step - 1) / step * step;
}

enum class Type : std::uint8_t { f32, f16, i32, i64 };

enum class Place : std::uint8_t {
    arena,   ///< gets memory in the compute buffer
    alias,   ///< shares the memory of its root
    outside  ///< weights, caches, recurrent state: has memory already
};

/// What a tensor belongs to, for the breakdown of the buffer.
enum class Part : std::uint8_t {
    other,  ///< hidden states and norms between the blocks
    inputs,
    masks,
    attention,
    scores,  ///< queries times keys, without flash attention
    feed_forward,
    experts,
    recurrent,
    logits
};
std::string_view part_name(Part part);

// clang-format off
enum class Op : std::uint8_t {
    weight, cache, state, input,                                   // leafs
    view, copy, set_rows, scale_inplace,                           // aliases
    add, add_id, sub, mul, div, scale, clamp, fill, unary, rope, rms_norm, soft_max,  // may overwrite an operand
    mul_mat, mul_mat_id, get_rows, glu, cont, pad, repeat, concat, argsort, sum_rows, flash_attention,
    ssm_conv, ssm_scan, delta_net
};
// clang-format on

enum class Shaped : std::uint8_t { no, optional, yes };  ///< are extents given with the operands?

/// What one operator takes. The result's extents follow from the operands unless they are given.
struct OpInfo {
    std::string_view name;
    Op op;
    std::uint8_t min_operands, max_operands;
    Shaped shaped;
    bool overwrites;  ///< may take over the memory of an operand that nobody else needs
};
std::span<const OpInfo> operators();  ///< indexed by Op
inline const OpInfo& info(Op op) {
    return operators()[static_cast<std::size_t>(op)];
}

struct Tensor {
    Extents extents{1, 1, 1, 1};
    std::int64_t bytes = 0;     ///< 0 unless in the arena
    TensorId root = -1;         ///< aliases: the tensor whose memory this is, never itself an alias
    std::int32_t operands = 0;  ///< where its operands start in Graph::operands()
    std::int32_t name = 0;      ///< number of a name in the tables; 0 = unnamed
    std::int16_t layer = -1;    ///< -1 = outside the layers
    std::uint8_t operand_count = 0;
    Op op = Op::input;
    Type type = Type::f32;
    Place place = Place::arena;
    Part part = Part::other;
    bool output = false;  ///< kept to the end
};

/// Tensors by number, and the two lists that an engine's allocator walks. Clearing keeps the memory, so one
/// graph serves many replays. Faults (too many or too large tensors) are Errors without a place.
class Graph {
  public:
    static constexpr std::size_t kMaxTensors = 100'000;

    void clear();

    /// A leaf. Only inputs live in the arena.
    TensorId leaf(Op op, Type type, const Extents& extents);
    /// The result of an operator; `extents` may be null where the operands decide.
    TensorId apply(Op op, std::span<const TensorId> operands, const Extents* extents = nullptr);
    void mark_output(TensorId t) { tensors_[index(t)].output = true; }
    /// Appends `t` and everything it needs that is not listed yet: operands first, in operand order.
    void expand(TensorId t);

    const Tensor& operator[](TensorId t) const { return tensors_[index(t)]; }
    Tensor& operator[](TensorId t) { return tensors_[index(t)]; }
    std::int32_t size() const { return static_cast<std::int32_t>(tensors_.size()); }
    std::span<const TensorId> operands(const Tensor& t) const {
        return {operands_.data() + t.operands, t.operand_count};
    }
    std::span<const TensorId> leafs() const { return leafs_; }
    std::span<const TensorId> nodes() const { return nodes_; }
    std::int64_t elements(TensorId t) const;

    // What new tensors are labelled with.
    std::int16_t layer = -1;
    Part part = Part::other;

    // ---- repeating a layer (see layer_repeat.h)
    struct Mark {  ///< how far the graph had grown
        std::int32_t tensors = 0, operands = 0, leafs = 0, nodes = 0;
        bool operator==(const Mark&) const = default;
    };
    Mark mark() const;
    std::span<const std::uint8_t> listed(std::int32_t from, std::int32_t to) const {
        return {listed_.data() + from, static_cast<std::size_t>(to - from)};
    }
    /// True if what was made and listed between the marks refers only to tensors below `fixed` and from
    /// `moving` up, and listed only the latter.
    bool can_repeat(const Mark& from, const Mark& to, TensorId fixed, TensorId moving) const;
    /// Appends once more what lies between the marks; references to tensors from `moving` up shift with it.
    void repeat(const Mark& from, const Mark& to, TensorId moving);

  private:
    static std::size_t index(TensorId t) { return static_cast<std::size_t>(t); }
    TensorId append(Tensor t, std::span<const TensorId> operands);
    Extents result_extents(Op op, std::span<const TensorId> operands) const;

    std::vector<Tensor> tensors_;
    std::vector<TensorId> operands_;
    std::vector<std::uint8_t> listed_;  ///< per tensor: already in a list
    std::vector<TensorId> leafs_, nodes_;
    struct Visit {
        TensorId tensor;
        std::int32_t next;  ///< operand to look at next
    };
    std::vector<Visit> pending_;
};

}  // namespace memwall::runtime
