// Models as text and JSON: what each kind of layer keeps and computes.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"

namespace memwall::view {

/// A run of equal layers, described.
struct LayerKind {
    int layers = 0;
    std::string text;  ///< "attention 32 heads, 8 kv_heads x 128; feed-forward 14336 gated"
};
/// Kinds in order of first appearance.
std::vector<LayerKind> layer_kinds(const model::Model& model);

std::string model_text(const model::Model& model, bool colour, std::size_t width = 0);
std::string model_json(const model::Model& model);  ///< memwall/model-view/1

/// "128.0 KiB": f16 cache bytes of one token beyond all windows; "-" for models that keep none.
/// Of one f16 cache entry in all layers, beyond any window.
Bytes kv_per_token(const model::Model& model);
std::string kv_per_token_text(const model::Model& model);

}  // namespace memwall::view
