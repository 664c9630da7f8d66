// What a tensor of a GGUF file is for, told by its name.
#pragma once

#include <string_view>
#include <vector>

#include "core/model/gguf.h"

namespace memwall::model {

/// A name taken apart: "blk.3.attn_q.bias" -> block decoder, layer 3, rest "attn_q.bias".
struct TensorName {
    enum class Block : std::uint8_t { none, layer, encoder, decoder, vision };
    Block block = Block::none;
    int layer = -1;
    std::string_view rest;
    Role role = Role::other;
};

/// `name` must outlive the result.
TensorName parse_tensor_name(std::string_view name);

/// The tensors of one layer by the rest of their names.
class LayerTensors {
  public:
    void add(std::string_view rest, Role role, const GgufTensor* tensor) {
        rows_.push_back({rest, role, tensor});
    }
    /// "attn_q.weight"; nullptr when the layer has none.
    const GgufTensor* find(std::string_view rest) const;
    bool has(std::string_view rest) const { return find(rest) != nullptr; }
    bool has(Role role) const;
    bool empty() const { return rows_.empty(); }

    struct Row {
        std::string_view rest;
        Role role;
        const GgufTensor* tensor;
    };
    const std::vector<Row>& rows() const { return rows_; }

  private:
    std::vector<Row> rows_;
};

}  // namespace memwall::model
