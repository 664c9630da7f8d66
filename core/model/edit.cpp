#include "core/model/edit.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/model/check_model.h"
#include "core/model/fields.h"
#include "core/model/layer_pattern.h"
#include "core/model/model_yaml.h"

namespace memwall::model {
namespace {

/// What a text asks for: a new value, or an addition to the old one.
struct Change {
    bool add = false;
    std::int64_t amount = 0;
    std::string_view field;
    const std::string& place;

    std::int64_t of(std::int64_t old) const {
        if (!add) return amount;
        std::int64_t sum = 0;
        if (__builtin_add_overflow(old, amount, &sum))
            throw Error(place, std::string(field) + " + " + std::to_string(amount), "a smaller number");
        return sum;
    }
};

Change read_change(std::string_view field, std::string_view value, const std::string& place) {
    const bool add = !value.empty() && value.front() == '+';
    return {add, parse_count(add ? value.substr(1) : value, place), field, place};
}

template <class Owner, std::size_t N>
bool change_part(const IntegerField<Owner> (&table)[N], Owner& owner, const Change& change) {
    for (const auto& f : table)
        if (change.field == f.name) {
            owner.*f.member = change.of(owner.*f.member);
            return true;
        }
    return false;
}

/// Changes every layer that has such a part; false when none has or no part has such a field.
bool change_layers(Model& m, const Change& change) {
    bool any_window = false;
    for (const Layer& layer : m.layers) any_window |= layer.attention && layer.attention->window > 0;
    bool changed = false;
    for (auto* group : {&m.layers, &m.prediction_layers})
        for (Layer& layer : *group) {
            if (auto& a = layer.attention) {
                if (change.field == "head_dim") {
                    a->key_dim = change.of(a->key_dim);
                    a->value_dim = change.of(a->value_dim);
                    changed = true;
                } else if (change.field != "window" || a->window > 0 || !any_window) {
                    changed |= change_part(kAttentionIntegers, *a, change);
                }
                // The expanded key follows the latent parts.
                if (a->latent_rank > 0) a->key_dim = a->nope_dim + a->latent_rope_dim;
            }
            if (layer.recurrent) changed |= change_part(kRecurrentIntegers, *layer.recurrent, change);
            if (layer.feed_forward) changed |= change_part(kFeedForwardIntegers, *layer.feed_forward, change);
            if (layer.experts) changed |= change_part(kExpertIntegers, *layer.experts, change);
        }
    return changed;
}

std::size_t repeat_length_of(const std::vector<Layer>& layers) {
    std::vector<std::string> texts;
    std::vector<std::size_t> kinds;
    for (const Layer& layer : layers) {
        Model one;
        one.layers = {layer};
        // Which layer's cache is shared changes along the pattern without breaking it.
        if (one.layers[0].attention) one.layers[0].attention->shared_with = -1;
        const std::string text = write_model_yaml(one);
        const auto known = std::find(texts.begin(), texts.end(), text);
        kinds.push_back(static_cast<std::size_t>(known - texts.begin()));
        if (known == texts.end()) texts.push_back(text);
    }
    return repeat_length(kinds);
}

void change_layer_count(Model& m, const Change& change) {
    const std::int64_t count = change.of(static_cast<std::int64_t>(m.layers.size()));
    if (count < 1 || count > kMostLayers || m.layers.empty())
        throw Error(change.place, "layers = " + std::to_string(count),
                    "a number from 1 to " + std::to_string(kMostLayers));
    const std::size_t repeat = repeat_length_of(m.layers);
    if (m.layers.size() > static_cast<std::size_t>(count)) m.layers.resize(static_cast<std::size_t>(count));
    while (m.layers.size() < static_cast<std::size_t>(count)) {
        const Layer next = m.layers[m.layers.size() - repeat];
        m.layers.push_back(next);
    }
}

std::string known_fields() {
    std::string names = "layers, head_dim";
    const auto add = [&](const auto& table) {
        for (const auto& f : table) names += ", " + std::string(f.name);
    };
    add(kAttentionIntegers);
    add(kFeedForwardIntegers);
    add(kExpertIntegers);
    add(kRecurrentIntegers);
    add(kModelIntegers);
    return names;
}

bool same_shapes(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Tensor& x, const Tensor& y) { return x.dims == y.dims && x.name == y.name; });
}

}  // namespace

void set_field(Model& model, std::string_view field, std::string_view value, const std::string& place) {
    const Change change = read_change(field, value, place);
    Model before = model;
    before.tensors.clear();
    complete_model(before, place);
    Model after = model;
    if (field == "layers")
        change_layer_count(after, change);
    else if (!change_part(kModelIntegers, after, change) && !change_layers(after, change))
        throw Error(place, "model." + std::string(field), "a field that this model has: " + known_fields());
    complete_model(after, place);
    after.sources[std::string(field)] = place;
    if (same_shapes(before.tensors, after.tensors)) {
        after.tensors = std::move(model.tensors);
    } else {
        if (after.tensors_from_file)
            after.warnings.push_back("model." + std::string(field) +
                                     " was changed: tensors are generated, not those of the file");
        after.tensors_from_file = false;
        after.file_bytes = after.metadata_bytes = 0;
        after.published_parameters = 0;
    }
    model = std::move(after);
}

}  // namespace memwall::model
