// memwall's own model description, `schema: memwall/model/1`: what the catalogue is written in and what users
// write by hand.
//
//     schema: memwall/model/1
//     id: tiny
//     hidden: 2560                    # every other number is optional and named as in model.h
//     vocabulary: 262208
//     output: tied                    # untied (default), tied, tied_stored_twice
//     kinds:                          # layers that differ, by name
//       local:
//         norms: 4
//         attention: {heads: 8, kv_heads: 4, head_dim: 256, window: 1024, qk_norm: per_head}
//         feed_forward: {width: 10240}
//       global:
//         norms: 4
//         attention: {heads: 8, kv_heads: 4, head_dim: 256, bias: qkvo}
//         experts: {count: 64, used: 8, width: 1408, shared_width: 2816}
//     layers: 34 of (5 local, 1 global)
//     prediction: 1 global            # multi-token-prediction layers; `encoder:` likewise
//     components:
//       - {name: vision, parameters: 416866032, tokens_per_image: 256}
//
// A recurrent layer has `recurrent: {kind: mamba2, inner: 3072, state: 128, heads: 48, groups: 1,
// conv_kernel: 4}`; kinds are mamba1, mamba2, delta_net, short_conv and rwkv.
#pragma once

#include <string>

#include "core/model/model.h"

namespace memwall::model {

/// The model of a YAML text, tensors generated. Throws Error with "PLACE:line" as its place for text that is
/// no YAML, unknown or repeated keys, missing ones and values out of range.
Model read_model_yaml(const std::string& text, const std::string& place);

/// Text that reads back as the same model (tensors, sources and warnings aside). Throws Error for a model
/// that has no layers.
std::string write_model_yaml(const Model& model);

}  // namespace memwall::model
