// Most layers of a model list the same operators as an earlier one. Instead of interpreting the table again,
// the earlier layer's tensors are appended once more with shifted references: exact, because a layer's body
// reads nothing but its own symbols, its variables, and (through the order of listing) what the layer before
// left unlisted, and all of these are compared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/runtime/graph.h"

namespace memwall::runtime {

/// What a variable of a table holds.
struct Value {
    enum class Kind : std::uint8_t { unset, none, number, tensor } kind = Kind::unset;
    std::int64_t number = 0;  ///< or the tensor's id

    static Value of(std::int64_t n) { return {Kind::number, n}; }
    static Value of_tensor(TensorId t) { return {Kind::tensor, t}; }
    static Value nothing() { return {Kind::none, 0}; }
    bool is_tensor() const { return kind == Kind::tensor; }
    TensorId tensor() const { return static_cast<TensorId>(number); }
    bool operator==(const Value&) const = default;
};

/// One run through the layers of a graph.
class LayerRepeat {
  public:
    /// `count_only`: repeated layers are not appended; their bytes add up in skipped_bytes().
    LayerRepeat(Graph& graph, bool count_only);

    /// Appends a layer like an earlier one of the same kind and updates the variables; false if there is none
    /// that left off in the same state. Then run the body between begin() and end().
    bool repeat(std::int32_t kind, std::span<Value> locals, std::span<Value> shared);
    void begin(std::span<const Value> locals, std::span<const Value> shared);
    void end(std::int32_t kind, std::span<const Value> locals, std::span<const Value> shared);

    /// Sum of what the arena tensors of skipped layers would take, rounded up to `alignment`.
    double skipped_bytes(std::int64_t alignment) const;

  private:
    struct Span {
        Graph::Mark from, to;
    };
    struct Record {
        std::int32_t kind = -1;
        std::int32_t skipped = 0;  ///< times it was repeated without being appended
        Span before, layer;        ///< the layer before it, and it
        std::vector<Value> values_in, values_out;
        std::vector<std::uint8_t> listed;  ///< of the layer before, when this one began
    };
    bool same_entry(const Record& r, std::span<const Value> locals, std::span<const Value> shared) const;
    bool same_value(const Record& r, const Value& then, const Value& now) const;
    bool same_tensor(const Record& r, TensorId then, TensorId now) const;
    bool moves(const Record& r, const Value& v) const;

    Graph& graph_;
    bool count_only_;
    TensorId fixed_;  ///< tensors below were there before the first layer
    Span before_;     ///< the layer before the coming one
    Record open_;
    std::vector<Record> records_;
};

}  // namespace memwall::runtime
