// One object of a config.json, asked by key. Internal to the reader: includes the JSON library.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace memwall::model::hugging_face {

/// Names of one thing in the order in which they are tried.
using Keys = std::initializer_list<const char*>;

/// A view of a JSON object whose values are checked when asked for. Nulls count as absent; keys that DBRX and
/// MPT keep in `attn_config` and `ffn_config` are found there. What is found under the name of a model field
/// is recorded in Model::sources.
class ConfigObject {
  public:
    ConfigObject(const nlohmann::json& object, std::string place, Model& model)
        : object_(object), place_(std::move(place)), model_(model) {}
    /// An object nested in `outer`. `path` is what stands before its keys in sources ("text_config."). Keys
    /// that it lacks are looked up in `outer`, then among the defaults of the class `model_type`.
    ConfigObject(const nlohmann::json& object, const nlohmann::json& outer, std::string path,
                 std::string model_type, std::string place, Model& model)
        : object_(object),
          outer_(&outer),
          path_(std::move(path)),
          class_(std::move(model_type)),
          place_(std::move(place)),
          model_(model) {}

    bool has(Keys keys) const { return find(keys).value != nullptr; }

    /// A whole number from 0 to 2^31; a list of equal numbers counts as that number. Throws Error otherwise.
    std::optional<std::int64_t> integer(Keys keys, std::string_view field = {}) const;
    /// The same, or `fallback` recorded with its reason ("head_dim = hidden/heads").
    std::int64_t integer_or(Keys keys, std::string_view field, std::int64_t fallback,
                            std::string_view reason) const;
    /// The same, or an Error that says what is missing.
    std::int64_t required(Keys keys, std::string_view field) const;
    std::optional<bool> flag(Keys keys) const;
    bool flag_or(Keys keys, bool fallback) const { return flag(keys).value_or(fallback); }
    std::optional<double> number(Keys keys) const;
    /// A number of tokens, of which some configs say with -1 that there is none.
    std::optional<std::int64_t> length(Keys keys, std::string_view field = {}) const;
    /// Empty when absent or no text.
    std::string text(Keys keys) const;
    /// Absent when it is no list. One value a layer, at most 4,096.
    std::optional<std::vector<std::int64_t>> integers(Keys keys, std::string_view field = {}) const;
    std::optional<std::vector<std::string>> texts(Keys keys) const;
    /// nullptr when absent or no object.
    const nlohmann::json* object(Keys keys) const;
    /// nullptr when absent or no list.
    const nlohmann::json* list(Keys keys) const;

    /// Keys of this object that speak of sizes, layers or caches and that nobody has asked for: what the
    /// reader does not understand. Sorted.
    std::vector<std::string> unread() const;

    void note_default(std::string_view field, std::string_view reason) const;
    [[noreturn]] void fail(std::string found, std::string expected, std::string hint = {}) const;
    const std::string& place() const { return place_; }

  private:
    struct Found {
        const nlohmann::json* value = nullptr;
        const char* key = nullptr;
        bool outer = false;
    };
    Found find(Keys keys) const;
    std::int64_t whole(const nlohmann::json& value, const char* key) const;
    void note(std::string_view field, const Found& found) const;

    const nlohmann::json& object_;
    std::shared_ptr<std::set<std::string, std::less<>>> asked_ =
        std::make_shared<std::set<std::string, std::less<>>>();
    const nlohmann::json* outer_ = nullptr;
    std::string path_, class_, place_;
    Model& model_;
};

}  // namespace memwall::model::hugging_face
