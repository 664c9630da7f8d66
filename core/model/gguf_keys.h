// Typed access to the metadata of a GGUF file, with bounds, and a record of where each field came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/gguf.h"

namespace memwall::model {

/// Every accessor takes the name of our field and the key without the architecture's prefix; a key that is
/// there is noted in Model::sources as "gguf:KEY". Values of the wrong type or out of bounds throw Error.
class GgufKeys {
  public:
    /// Largest width, head, expert or layer count taken at its word. Products of two stay far from overflow.
    static constexpr std::int64_t kMaxWidth = std::int64_t{1} << 24;
    static constexpr std::int64_t kMaxLayers = GgufValue::kKeptElements;
    static constexpr std::int64_t kMaxTokens = (std::int64_t{1} << 31) - 1;

    GgufKeys(const GgufFile& file, std::string prefix, Model& model)
        : file_(file), prefix_(std::move(prefix)), model_(model) {}

    std::optional<std::int64_t> integer(std::string_view field, std::string_view key,
                                        std::int64_t most = kMaxWidth);
    std::optional<double> real(std::string_view field, std::string_view key);
    std::optional<bool> flag(std::string_view field, std::string_view key);
    /// One value a layer: an array of at least `layers`, or a scalar that holds for all.
    std::optional<std::vector<std::int64_t>> per_layer(std::string_view field, std::string_view key,
                                                       std::int64_t layers);
    /// As integer(), but throws Error with `hint` when the key is missing or 0.
    std::int64_t required(std::string_view field, std::string_view key, std::string_view hint,
                          std::int64_t most = kMaxWidth);

    const GgufEntry* find(std::string_view key) const;  ///< with the prefix added
    std::string full(std::string_view key) const { return prefix_ + "." + std::string(key); }
    /// Origin of a field that no key gives.
    void assume(std::string_view field, std::string_view why);
    void from_tensor(std::string_view field, std::string_view tensor);

  private:
    std::int64_t bounded(const GgufEntry& entry, std::int64_t value, std::int64_t most) const;
    void note(std::string_view field, const GgufEntry& entry);

    const GgufFile& file_;
    std::string prefix_;
    Model& model_;
};

/// A string key of the whole file ("general.license"); empty when absent or of another type.
std::string_view gguf_text(const GgufFile& file, std::string_view key);

}  // namespace memwall::model
