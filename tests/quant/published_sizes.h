// Rows of tests/data/gguf_sizes.csv and what our rules make of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace memwall::quant {

struct PublishedSize {
    std::string model, recipe, container, source;
    std::string variant;        ///< words, see the file's head
    bool tensors_only = false;  ///< no header
    bool exact = false;
    double bytes = 0;
    double step = 0;  ///< of the printed rounding; 0 when exact

    bool has(std::string_view word) const;
    /// The value of "KEY=VALUE" among the words.
    std::optional<std::string> value(std::string_view key) const;
};

std::vector<PublishedSize> read_published_sizes();

/// The descriptor behind a row, cut and altered as its variant says; nullopt where we have none.
std::optional<model::Model> model_of(const PublishedSize& row);

/// Bytes of its tensors by our rules; nullopt without a descriptor or with a recipe that is none of ours.
std::optional<double> computed_bytes(const PublishedSize& row);

}  // namespace memwall::quant
