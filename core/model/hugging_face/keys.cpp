#include "core/model/hugging_face/keys.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/model/hugging_face/layout.h"

namespace memwall::model::hugging_face {
namespace {

// Small enough that a product of two stays exact; no config counts anything that high.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;
constexpr std::size_t kLongestList = 4096;

std::string shown(const nlohmann::json& value) {
    // Hostile text may be no UTF-8; `replace` keeps dump() from throwing.
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// Whether a key that nobody understands may well change what is stored or cached: it speaks of a part of the
/// model, and it is not one of the words of training, generation and tokenizers.
bool changes_the_shape(std::string_view key, const nlohmann::json& value) {
    const bool says_something = (value.is_number() && value.get<double>() > 1) ||
                                (value.is_array() && value.size() > 0) ||
                                (value.is_object() && value.size() > 0);
    if (!says_something) return false;
    if (holds_any(key,
                  {"dropout", "pdrop",    "drop_",         "eps",        "init",     "std",       "loss",
                   "theta",   "alpha",    "beta",          "scal",       "factor",   "mult",      "coef",
                   "token",   "beam",     "label",         "dtype",      "vision",   "image",     "video",
                   "audio",   "speech",   "pretrain",      "chunk_size", "rope",     "rotary",    "length",
                   "quant",   "auto_map", "architectures", "task",       "parallel", "ep_size",   "time_step",
                   "max_",    "original", "limit",         "floor",      "_tp",      "version",   "processor",
                   "lora_",   "compile",  "generation",    "block_size", "capacity", "projector", "mm_"}))
        return key.find("_lora_rank") != std::string_view::npos;
    return holds_any(
        key, {"layer", "head",    "expert", "window", "rank",      "dim",       "hidden", "width", "compress",
              "ratio", "pattern", "block",  "kv",     "attn",      "attention", "ssm",    "mamba", "state",
              "conv",  "moe",     "mlp",    "ffn",    "ff_",       "mem_",      "cache",  "size",  "shar",
              "index", "hash",    "hc_",    "group",  "recurrent", "lru",       "latent"});
}

}  // namespace

ConfigObject::Found ConfigObject::find(Keys keys) const {
    for (const char* key : keys) asked_->insert(key);
    const auto part = [&](const char* name) {
        const auto it = object_.find(name);
        return it != object_.end() && it->is_object() ? &*it : nullptr;
    };
    for (const nlohmann::json* from : {&object_, part("attn_config"), part("ffn_config"), outer_}) {
        if (from == nullptr) continue;
        for (const char* key : keys) {
            const auto it = from->find(key);
            if (it != from->end() && !it->is_null()) return {&*it, key, from == outer_};
        }
    }
    return {};
}

std::vector<std::string> ConfigObject::unread() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object_.items())
        if (asked_->count(key) == 0 && changes_the_shape(key, value)) keys.push_back(key);
    return keys;  // the JSON library keeps objects sorted
}

void ConfigObject::note(std::string_view field, const Found& found) const {
    if (field.empty()) return;
    model_.sources[std::string(field)] = "config.json:" + (found.outer ? "" : path_) + found.key;
}

void ConfigObject::note_default(std::string_view field, std::string_view reason) const {
    if (!field.empty()) model_.sources[std::string(field)] = "default: " + std::string(reason);
}

void ConfigObject::fail(std::string found, std::string expected, std::string hint) const {
    throw Error(place_, std::move(found), std::move(expected), std::move(hint));
}

std::int64_t ConfigObject::whole(const nlohmann::json& value, const char* key) const {
    const double number = value.is_number() ? value.get<double>() : -1.0;
    if (!value.is_number() || !(number >= 0) || number > static_cast<double>(kLargest) ||
        number != std::floor(number))
        fail(path_ + key + " = " + shown(value), "a whole number from 0 to 2^31");
    return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> ConfigObject::integer(Keys keys, std::string_view field) const {
    const Found found = find(keys);
    if (found.value == nullptr) {
        if (class_.empty()) return std::nullopt;
        const std::int64_t value = class_default(class_, *keys.begin());
        if (value == 0) return std::nullopt;
        note_default(field, "of class " + class_);
        return value;
    }
    const nlohmann::json* value = found.value;
    if (value->is_array() && !value->empty()) {
        for (const auto& other : *value)
            if (other != value->front())
                fail(path_ + found.key + " = " + shown(*value), "one number for all layers");
        value = &value->front();
    }
    const std::int64_t result = whole(*value, found.key);
    note(field, found);
    return result;
}

std::int64_t ConfigObject::integer_or(Keys keys, std::string_view field, std::int64_t fallback,
                                      std::string_view reason) const {
    if (const auto value = integer(keys, field)) return *value;
    note_default(field, reason);
    return fallback;
}

std::optional<std::int64_t> ConfigObject::length(Keys keys, std::string_view field) const {
    const Found found = find(keys);
    if (found.value != nullptr && found.value->is_number() && found.value->get<double>() < 0)
        return std::nullopt;
    return integer(keys, field);
}

std::int64_t ConfigObject::required(Keys keys, std::string_view field) const {
    const auto value = integer(keys, field);
    if (!value) fail("no " + path_ + *keys.begin(), "the key in a model's config.json");
    if (*value == 0) fail(path_ + find(keys).key + " = 0", "a positive whole number");
    return *value;
}

std::optional<bool> ConfigObject::flag(Keys keys) const {
    const Found found = find(keys);
    if (found.value == nullptr) return std::nullopt;
    if (found.value->is_number()) return found.value->get<double>() != 0;
    if (!found.value->is_boolean()) fail(path_ + found.key + " = " + shown(*found.value), "true or false");
    return found.value->get<bool>();
}

std::optional<double> ConfigObject::number(Keys keys) const {
    const Found found = find(keys);
    if (found.value == nullptr) return std::nullopt;
    if (!found.value->is_number()) fail(path_ + found.key + " = " + shown(*found.value), "a number");
    return found.value->get<double>();
}

std::string ConfigObject::text(Keys keys) const {
    const Found found = find(keys);
    return found.value != nullptr && found.value->is_string() ? found.value->get<std::string>() : "";
}

std::optional<std::vector<std::int64_t>> ConfigObject::integers(Keys keys, std::string_view field) const {
    const Found found = find(keys);
    if (found.value == nullptr || !found.value->is_array()) return std::nullopt;
    if (found.value->size() > kLongestList)
        fail(path_ + found.key + " has " + std::to_string(found.value->size()) + " entries", "at most 4096");
    std::vector<std::int64_t> values;
    for (const auto& value : *found.value)
        values.push_back(value.is_boolean() ? value.get<bool>() : whole(value, found.key));
    note(field, found);
    return values;
}

std::optional<std::vector<std::string>> ConfigObject::texts(Keys keys) const {
    const Found found = find(keys);
    if (found.value == nullptr || !found.value->is_array()) return std::nullopt;
    if (found.value->size() > kLongestList)
        fail(path_ + found.key + " has " + std::to_string(found.value->size()) + " entries", "at most 4096");
    std::vector<std::string> values;
    for (const auto& value : *found.value) {
        if (!value.is_string()) fail(path_ + found.key + " holds " + shown(value), "a list of names");
        values.push_back(value.get<std::string>());
    }
    return values;
}

const nlohmann::json* ConfigObject::object(Keys keys) const {
    const Found found = find(keys);
    return found.value != nullptr && found.value->is_object() ? found.value : nullptr;
}

const nlohmann::json* ConfigObject::list(Keys keys) const {
    const Found found = find(keys);
    return found.value != nullptr && found.value->is_array() ? found.value : nullptr;
}

}  // namespace memwall::model::hugging_face
