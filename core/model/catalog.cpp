#include "core/model/catalog.h"

#include <algorithm>
#include <tuple>

#include "core/base/edit_distance.h"
#include "core/base/embedded.h"
#include "core/model/model_yaml.h"

namespace memwall::model {
namespace {

/// "models/qwen3-8b.yaml" -> "qwen3-8b"
std::string_view id_of(const EmbeddedFile& file) {
    const std::size_t begin = file.path.find('/') + 1;
    return file.path.substr(begin, file.path.rfind('.') - begin);
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

/// Without the endings that tell a model's tuning and change nothing of its shape.
std::string_view without_tuning(std::string_view name) {
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view ending : {"-instruct", "-it", "-chat", "-base", "-hf", "-gguf"})
            if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) {
                name.remove_suffix(ending.size());
                again = true;
            }
    }
    return name;
}

/// What stands after `key` on its line of a catalogue file; files are written with plain keys at line starts.
std::string_view value_of(std::string_view text, std::string_view key) {
    const std::size_t at = text.find("\n" + std::string(key) + ": ");
    if (at == std::string_view::npos) return {};
    const std::size_t begin = at + key.size() + 3;
    return text.substr(begin, text.find('\n', begin) - begin);
}

/// Whether "[a, b]" lists `name`.
bool lists(std::string_view list, std::string_view name) {
    const std::size_t at = list.find(name);
    if (at == std::string_view::npos || at == 0) return false;
    const auto edge = [](char c) { return c == '[' || c == ']' || c == ',' || c == ' ' || c == '"'; };
    const std::size_t end = at + name.size();
    return edge(list[at - 1]) && end < list.size() && edge(list[end]);
}

}  // namespace

std::vector<std::string_view> catalog_ids() {
    std::vector<std::string_view> ids;
    for (const EmbeddedFile& file : embedded_models()) ids.push_back(id_of(file));
    std::sort(ids.begin(), ids.end());
    return ids;
}

std::optional<std::string_view> find_catalog_id(std::string_view name) {
    const std::string wanted = lower(name);
    const std::string short_name(without_tuning(std::string_view(wanted).substr(wanted.rfind('/') + 1)));
    if (wanted.empty()) return std::nullopt;
    for (const std::string& candidate : {wanted, short_name})
        for (const EmbeddedFile& file : embedded_models())
            if (id_of(file) == candidate) return id_of(file);
    for (const EmbeddedFile& file : embedded_models()) {
        const std::string repo = lower(value_of(file.text(), "hf_repo"));
        const std::string_view aliases = value_of(file.text(), "aliases");
        if (repo == wanted ||
            without_tuning(std::string_view(repo).substr(repo.rfind('/') + 1)) == short_name ||
            lists(aliases, wanted) || lists(aliases, short_name))
            return id_of(file);
    }
    return std::nullopt;
}

std::optional<Model> load_catalog_model(std::string_view name) {
    const auto id = find_catalog_id(name);
    if (!id) return std::nullopt;
    const std::string file = std::string(*id) + ".yaml";
    const EmbeddedFile* embedded = embedded_models().find("models/" + file);
    Model model = read_model_yaml(std::string(embedded->text()), "catalogue:" + file);
    // A user cannot look at lines of an embedded file; how the configuration was obtained says more.
    model.sources.clear();
    model.default_source = model.config_source.empty() ? "catalogue" : "catalogue: " + model.config_source;
    return model;
}

std::vector<std::string_view> suggest_catalog_ids(std::string_view name, std::size_t most) {
    const std::string wanted(without_tuning(lower(name).substr(lower(name).rfind('/') + 1)));
    std::vector<std::tuple<std::size_t, std::size_t, std::string_view>> ranked;  // shorter ones first
    for (const std::string_view id : catalog_ids()) {
        std::size_t score = edit_distance(wanted, id);
        if (wanted.size() >= 3 && id.find(wanted) != std::string_view::npos) score = 0;
        if (score <= 1 + wanted.size() / 4) ranked.emplace_back(score, id.size(), id);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string_view> result;
    for (const auto& [score, size, id] : ranked)
        if (result.size() < most) result.push_back(id);
    return result;
}

}  // namespace memwall::model
