// The rule by which llama.cpp's quantizer chooses a block format for each tensor of a file type.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/quant/recipe.h"

namespace memwall::quant {

/// File types in the order of the table; the rules name them.
// clang-format off
enum class FileTypeId : std::uint8_t {
    F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q1_0, Q2_0, MXFP4_MOE, NVFP4, Q2_K, Q2_K_S, Q3_K_S,
    Q3_K_M, Q3_K_L, Q4_K_S, Q4_K_M, Q5_K_S, Q5_K_M, Q6_K, TQ1_0, TQ2_0, IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS,
    IQ2_S, IQ2_M, IQ3_XXS, IQ3_XS, IQ3_S, IQ3_M, IQ4_NL, IQ4_XS,
};
// clang-format on

struct FileType {
    std::string_view name;
    FileTypeId id;
    std::string_view default_type;  ///< block format of whatever no rule changes
    bool imatrix;                   ///< publishers make it with an importance matrix
    bool q8_ends;                   ///< "_L" and "_XL": token embedding and output in Q8_0
};

std::span<const FileType> file_types();

/// A format for each tensor. Source: llama.cpp src/llama-quant.cpp at 007dbbf3 (2026), which keys on tensor
/// names, so this does too; files of older releases differ (a fused attn_qkv, Q2_K and Mixtral before 2024).
std::vector<Format> assign_file_type(const FileType& type, const model::Model& model,
                                     const AssignOptions& options);

}  // namespace memwall::quant
