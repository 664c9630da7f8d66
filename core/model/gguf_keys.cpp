#include "core/model/gguf_keys.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace memwall::model {
namespace {

std::string place_of(const GgufFile& file, const GgufEntry& entry) {
    return fmt::format("{}@{}", file.name, entry.offset);
}

std::string type_text(const GgufValue& v) {
    return v.type == GgufType::array ? fmt::format("an array of {} {}", v.count, gguf_type_name(v.element))
                                     : fmt::format("a {}", gguf_type_name(v.type));
}

}  // namespace

const GgufEntry* GgufKeys::find(std::string_view key) const {
    for (const GgufEntry& e : file_.metadata)
        if (e.key.size() == prefix_.size() + 1 + key.size() && e.key.starts_with(prefix_) &&
            e.key[prefix_.size()] == '.' && e.key.ends_with(key))
            return &e;
    return nullptr;
}

std::int64_t GgufKeys::bounded(const GgufEntry& entry, std::int64_t value, std::int64_t most) const {
    if (value < 0 || value > most)
        throw Error(place_of(file_, entry), fmt::format("{} = {}", entry.key, value),
                    fmt::format("0 to {}", most));
    return value;
}

void GgufKeys::note(std::string_view field, const GgufEntry& entry) {
    model_.sources[std::string(field)] = "gguf:" + entry.key;
}

void GgufKeys::assume(std::string_view field, std::string_view why) {
    model_.sources[std::string(field)] = fmt::format("default: {}", why);
}

void GgufKeys::from_tensor(std::string_view field, std::string_view tensor) {
    model_.sources[std::string(field)] = fmt::format("gguf: shape of {}", tensor);
}

std::optional<std::int64_t> GgufKeys::integer(std::string_view field, std::string_view key,
                                              std::int64_t most) {
    const GgufEntry* e = find(key);
    if (!e) return std::nullopt;
    const auto* v = std::get_if<std::int64_t>(&e->value.value);
    if (!v)
        throw Error(place_of(file_, *e), fmt::format("{} is {}", e->key, type_text(e->value)), "an integer");
    note(field, *e);
    return bounded(*e, *v, most);
}

std::optional<double> GgufKeys::real(std::string_view field, std::string_view key) {
    const GgufEntry* e = find(key);
    if (!e) return std::nullopt;
    note(field, *e);
    if (const auto* d = std::get_if<double>(&e->value.value)) return *d;
    if (const auto* i = std::get_if<std::int64_t>(&e->value.value)) return static_cast<double>(*i);
    throw Error(place_of(file_, *e), fmt::format("{} is {}", e->key, type_text(e->value)), "a number");
}

std::optional<bool> GgufKeys::flag(std::string_view field, std::string_view key) {
    const auto v = integer(field, key);
    return v ? std::optional<bool>(*v != 0) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> GgufKeys::per_layer(std::string_view field, std::string_view key,
                                                             std::int64_t layers) {
    const GgufEntry* e = find(key);
    if (!e) return std::nullopt;
    const auto n = static_cast<std::size_t>(layers);
    if (e->value.type != GgufType::array) return std::vector<std::int64_t>(n, *integer(field, key));
    const auto* v = std::get_if<std::vector<std::int64_t>>(&e->value.value);
    if (!v || v->size() < n)
        throw Error(place_of(file_, *e), fmt::format("{} is {}", e->key, type_text(e->value)),
                    fmt::format("an integer, or one for each of the {} layers", layers));
    note(field, *e);
    for (const std::int64_t x : *v) bounded(*e, x, kMaxWidth);
    return std::vector<std::int64_t>(v->begin(), v->begin() + layers);
}

std::int64_t GgufKeys::required(std::string_view field, std::string_view key, std::string_view hint,
                                std::int64_t most) {
    const auto v = integer(field, key, most);
    if (!v) throw Error(file_.name, fmt::format("no key '{}'", full(key)), "", std::string(hint));
    if (*v == 0)
        throw Error(place_of(file_, *find(key)), fmt::format("{} = 0", full(key)), "at least 1",
                    std::string(hint));
    return *v;
}

std::string_view gguf_text(const GgufFile& file, std::string_view key) {
    const GgufEntry* e = file.find(key);
    const auto* text = e ? std::get_if<std::string>(&e->value.value) : nullptr;
    return text ? std::string_view(*text) : std::string_view();
}

}  // namespace memwall::model
