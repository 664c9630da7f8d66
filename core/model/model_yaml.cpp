#include "core/model/model_yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/error.h"
#include "core/model/check_model.h"
#include "core/model/fields.h"
#include "core/model/layer_pattern.h"

namespace memwall::model {
namespace {

// A catalogue file takes 2 KB; parsing takes a hundred times a text's size at worst.
constexpr std::size_t kLargestText = std::size_t{256} << 10;

class YamlReader {
  public:
    explicit YamlReader(const std::string& place) : place_(place) {}

    Model read(const std::string& text) {
        YAML::Node root;
        try {
            root = YAML::Load(text);
            read_root(root);
        } catch (const YAML::Exception& e) {
            throw Error(place_ + ":" + std::to_string(e.mark.line + 1), "no YAML (" + e.msg + ")",
                        "a memwall/model/1 file");
        }
        return std::move(model_);
    }

  private:
    std::string at(const YAML::Node& node) const {
        return place_ + ":" + std::to_string(std::max(node.Mark().line, 0) + 1);
    }
    [[noreturn]] void fail(const YAML::Node& node, std::string found, std::string expected) const {
        throw Error(at(node), std::move(found), std::move(expected));
    }

    /// Calls `use(key, value)` for every entry; use() returns false for a key it does not know.
    template <class Use>
    void each(const YAML::Node& map, const std::string& what, Use&& use) const {
        if (!map.IsMap()) fail(map, what + " is no mapping", "keys and values");
        std::set<std::string> seen;
        for (const auto& entry : map) {
            const std::string& key = entry.first.Scalar();
            if (!seen.insert(key).second)
                fail(entry.first, "\"" + key + "\" twice in " + what, "each key once");
            if (!use(key, entry.second))
                fail(entry.first, "\"" + key + "\" in " + what, "a key of memwall/model/1");
        }
    }

    std::int64_t integer(const YAML::Node& node, const std::string& key) const {
        const std::string& text = node.IsScalar() ? node.Scalar() : kNone;
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size())
            fail(node, key + ": " + text.substr(0, 40), "a whole number");
        return value;
    }
    bool flag(const YAML::Node& node, const std::string& key) const {
        const std::string& text = node.IsScalar() ? node.Scalar() : kNone;
        if (text != "true" && text != "false") fail(node, key + ": " + text.substr(0, 40), "true or false");
        return text == "true";
    }
    double number(const YAML::Node& node, const std::string& key) const {
        const std::string& text = node.IsScalar() ? node.Scalar() : kNone;
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !(value >= 0) ||
            value > 1e12)
            fail(node, key + ": " + text.substr(0, 40), "a positive number");
        return value;
    }
    std::string text(const YAML::Node& node, const std::string& key) const {
        if (!node.IsScalar()) fail(node, key + " is no text", "text");
        return node.Scalar();
    }
    std::vector<std::string> texts(const YAML::Node& node, const std::string& key) const {
        if (!node.IsSequence()) fail(node, key + " is no list", "a list of texts");
        std::vector<std::string> result;
        for (const auto& item : node) result.push_back(text(item, key));
        return result;
    }

    // One table each; false when the table has no such key. The first layer kind gives a field its source.
    template <class Owner, std::size_t N>
    bool take(const IntegerField<Owner> (&table)[N], Owner& owner, const std::string& key,
              const YAML::Node& value) {
        for (const auto& field : table)
            if (key == field.key) {
                owner.*field.member = integer(value, key);
                model_.sources.emplace(field.name, at(value));
                return true;
            }
        return false;
    }
    template <class Owner, std::size_t N>
    bool take(const FlagField<Owner> (&table)[N], Owner& owner, const std::string& key,
              const YAML::Node& value) const {
        for (const auto& field : table)
            if (key == field.key) {
                owner.*field.member = flag(value, key);
                return true;
            }
        return false;
    }
    template <std::size_t N>
    bool take(const Field<Model, std::string> (&table)[N], const std::string& key, const YAML::Node& value) {
        for (const auto& field : table)
            if (key == field.key) {
                model_.*field.member = text(value, key);
                return true;
            }
        return false;
    }
    template <std::size_t N>
    bool take(const Field<Model, double> (&table)[N], const std::string& key, const YAML::Node& value) {
        for (const auto& field : table)
            if (key == field.key) {
                model_.*field.member = number(value, key);
                return true;
            }
        return false;
    }
    /// The value of the entry of `names` at whose place `node` stands.
    template <class Enum, std::size_t N>
    Enum choice(const YAML::Node& node, const std::string& key, const Named<Enum> (&names)[N]) const {
        std::string all;
        for (const auto& n : names) {
            if (node.IsScalar() && node.Scalar() == n.name) return n.value;
            all += (all.empty() ? "" : ", ") + std::string(n.name);
        }
        fail(node, key + ": " + (node.IsScalar() ? node.Scalar().substr(0, 40) : "no text"), "one of " + all);
    }

    Attention attention(const YAML::Node& node) {
        Attention a;
        each(node, "attention", [&](const std::string& key, const YAML::Node& value) {
            if (take(kAttentionIntegers, a, key, value) || take(kAttentionFlags, a, key, value)) return true;
            if (key == "head_dim") {
                a.key_dim = a.value_dim = integer(value, key);
                model_.sources.emplace(key, at(value));
            } else if (key == "shared_with") {
                const std::int64_t layer = integer(value, key);
                if (layer < 0 || layer >= kMostLayers)
                    fail(value, "shared_with out of range", "a layer's index");
                a.shared_with = static_cast<int>(layer);
            } else if (key == "qk_norm") {
                a.qk_norm = choice(value, key, kQkNormNames);
            } else if (key == "bias") {
                const std::string letters = text(value, key);
                if (letters.find_first_not_of("qkvo") != std::string::npos)
                    fail(value, "bias: " + letters.substr(0, 40), "some of the letters qkvo");
                const auto has = [&](char c) { return letters.find(c) != std::string::npos; };
                a.query_bias = has('q');
                a.key_bias = has('k');
                a.value_bias = has('v');
                a.output_bias = has('o');
            } else {
                return false;
            }
            return true;
        });
        // What the latent parts say need not be said twice.
        if (a.latent_rank > 0) {
            if (a.kv_heads == 0) a.kv_heads = a.heads;
            if (a.key_dim == 0) a.key_dim = a.nope_dim + a.latent_rope_dim;
        }
        return a;
    }

    Recurrent recurrent(const YAML::Node& node) {
        Recurrent r;
        each(node, "recurrent", [&](const std::string& key, const YAML::Node& value) {
            if (take(kRecurrentIntegers, r, key, value) || take(kRecurrentFlags, r, key, value)) return true;
            if (key != "kind") return false;
            r.kind = choice(value, key, kRecurrentNames);
            return true;
        });
        return r;
    }

    FeedForward feed_forward(const YAML::Node& node) {
        FeedForward f;
        each(node, "feed_forward", [&](const std::string& key, const YAML::Node& value) {
            return take(kFeedForwardIntegers, f, key, value) || take(kFeedForwardFlags, f, key, value);
        });
        return f;
    }

    Experts experts(const YAML::Node& node) {
        Experts x;
        each(node, "experts", [&](const std::string& key, const YAML::Node& value) {
            if (take(kExpertIntegers, x, key, value) || take(kExpertFlags, x, key, value)) return true;
            if (key != "scale") return false;
            x.scale = number(value, key);
            return true;
        });
        return x;
    }

    std::vector<ExtraTensor> extra_tensors(const YAML::Node& node) {
        std::vector<ExtraTensor> result;
        each(node, "extra_tensors", [&](const std::string& key, const YAML::Node& value) {
            ExtraTensor tensor{key};
            if (!value.IsSequence() || value.size() == 0 || value.size() > 4)
                fail(value, key + " has no shape", "a list of one to four sizes");
            std::size_t i = 0;
            for (const auto& size : value) tensor.dims[i++] = integer(size, key);
            result.push_back(std::move(tensor));
            return true;
        });
        return result;
    }

    Layer layer(const YAML::Node& node, const std::string& name) {
        Layer l;
        each(node, name, [&](const std::string& key, const YAML::Node& value) {
            if (key == "attention")
                l.attention = attention(value);
            else if (key == "recurrent")
                l.recurrent = recurrent(value);
            else if (key == "feed_forward")
                l.feed_forward = feed_forward(value);
            else if (key == "experts")
                l.experts = experts(value);
            else if (key == "norms")
                l.norms = small(value, key);
            else if (key == "norm_bias")
                l.norm_bias = flag(value, key);
            else if (key == "extra_parameters")
                l.extra_parameters = integer(value, key);
            else if (key == "extra_tensors")
                l.extra_tensors = extra_tensors(value);
            else
                return false;
            return true;
        });
        return l;
    }

    int small(const YAML::Node& node, const std::string& key) const {
        const std::int64_t value = integer(node, key);
        if (value < 0 || value > 16) fail(node, key + ": " + std::to_string(value), "a number from 0 to 16");
        return static_cast<int>(value);
    }

    std::vector<Layer> layers(const YAML::Node& node, const std::string& key) const {
        std::vector<Layer> result;
        for (const std::string& name : parse_layer_pattern(text(node, key), at(node))) {
            const auto kind =
                std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& k) { return k.first == name; });
            if (kind == kinds_.end())
                fail(node, "layer kind \"" + name.substr(0, 40) + "\"", "one of `kinds`");
            result.push_back(kind->second);
        }
        return result;
    }

    void component(const YAML::Node& node) {
        Component c;
        each(node, "components", [&](const std::string& key, const YAML::Node& value) {
            if (key == "name")
                c.name = text(value, key);
            else if (key == "parameters")
                c.parameters = integer(value, key);
            else if (key == "separate_file")
                c.separate_file = flag(value, key);
            else if (key == "tokens_per_image")
                c.tokens_per_image = integer(value, key);
            else
                return false;
            return true;
        });
        model_.components.push_back(std::move(c));
    }

    bool read_list(const std::string& key, const YAML::Node& value) {
        if (key == "aliases")
            model_.aliases = texts(value, key);
        else if (key == "references")
            model_.references = texts(value, key);
        else if (key == "extra_tensors")
            model_.extra_tensors = extra_tensors(value);
        else if (key == "kinds")
            each(value, key, [&](const std::string& name, const YAML::Node& kind) {
                kinds_.emplace_back(name, layer(kind, name));
                return true;
            });
        else if (key == "components") {
            if (!value.IsSequence()) fail(value, "components is no list", "a list");
            for (const auto& item : value) component(item);
        } else
            return false;
        return true;
    }

    void read_root(const YAML::Node& root) {
        std::vector<std::pair<std::string, YAML::Node>> sequences;  // need `kinds`, which may stand below
        bool schema = false;
        each(root, "the file", [&](const std::string& key, const YAML::Node& value) {
            if (take(kModelTexts, key, value) || take(kModelIntegers, model_, key, value) ||
                take(kModelFlags, model_, key, value) || take(kModelNumbers, key, value) ||
                take(kModelRemarks, key, value) || read_list(key, value))
                return true;
            if (key == "schema") {
                if (text(value, key) != "memwall/model/1")
                    fail(value, "schema " + value.Scalar().substr(0, 40), "memwall/model/1");
                schema = true;
            } else if (key == "layers" || key == "encoder" || key == "prediction") {
                sequences.emplace_back(key, value);
            } else if (key == "output") {
                model_.output = choice(value, key, kOutputNames);
            } else if (key == "extra_norms") {
                model_.extra_norms = small(value, key);
            } else if (key == "published_parameters") {
                model_.published_parameters = integer(value, key);
            } else {
                return false;
            }
            return true;
        });
        if (!schema) throw Error(place_ + ":1", "no schema", "schema: memwall/model/1");
        for (const auto& [key, node] : sequences) {
            auto& target = key == "layers"    ? model_.layers
                           : key == "encoder" ? model_.encoder
                                              : model_.prediction_layers;
            target = layers(node, key);
            model_.sources.emplace(key, at(node));
        }
        model_.default_source = place_;
        complete_model(model_, place_);
    }

    inline static const std::string kNone;
    const std::string& place_;
    Model model_;
    std::vector<std::pair<std::string, Layer>> kinds_;
};

}  // namespace

Model read_model_yaml(const std::string& text, const std::string& place) {
    if (text.size() > kLargestText)
        throw Error(place, std::to_string(text.size()) + " bytes", "a model file of at most 256 KiB");
    return YamlReader(place).read(text);
}

}  // namespace memwall::model
