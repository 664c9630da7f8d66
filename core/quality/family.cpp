#include "core/quality/family.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>

#include "core/base/embedded.h"
#include "core/base/error.h"

namespace memwall::quality {
namespace {

struct Row {
    std::vector<std::string> arch, family, words;
    FamilyFacts facts;
};

struct Table {
    std::vector<Row> rows;
    std::vector<std::string> derivative_words;
};

std::vector<std::string> list(const YAML::Node& node) {
    return node ? node.as<std::vector<std::string>>() : std::vector<std::string>{};
}

Table read_table(std::string_view yaml) {
    const YAML::Node root = YAML::Load(std::string(yaml));
    Table table;
    table.derivative_words = list(root["derivative_words"]);
    for (const YAML::Node& n : root["families"]) {
        Row row{list(n["arch"]), list(n["family"]), list(n["words"]), {}};
        FamilyFacts& f = row.facts;
        f.name = n["name"].as<std::string>();
        f.sensitive = n["class"].as<std::string>() != "ordinary";
        f.listed = n["listed"].as<bool>(false);
        f.key_bias = n["key_bias"].as<bool>(false);
        f.trained_in = n["trained_in"].as<std::string>("");
        f.why = n["why"].as<std::string>();
        if (n["cliffs"])
            for (const YAML::Node& c : n["cliffs"])
                f.cliffs.push_back(
                    {c["type"].as<std::string>(), c["below"].as<double>(0), c["row"].as<std::string>()});
        table.rows.push_back(std::move(row));
    }
    return table;
}

const Table& table() {
    static const Table t = [] {
        constexpr std::string_view path = "quality/families.yaml";
        const EmbeddedFile* file = embedded_quality().find(path);
        if (!file) throw Error(std::string(path), "not embedded");
        try {
            return read_table(file->text());
        } catch (const YAML::Exception& e) {
            throw Error(fmt::format("{}:{}", path, e.mark.line + 1), e.msg, "a table of families");
        }
    }();
    return t;
}

/// Lower case, and every separator a dash, with one at both ends: "-llama-3-8b-abliterated-".
std::string dashed(std::string_view id) {
    std::string out = "-";
    for (const char c : id)
        out += std::isalnum(static_cast<unsigned char>(c))
                   ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                   : '-';
    return out + "-";
}

bool holds(const std::vector<std::string>& wanted, std::string_view value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool has_word(const std::string& dashed_id, const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& w) {
        return dashed_id.find("-" + w + "-") != std::string::npos;
    });
}

}  // namespace

FamilyFacts family_facts(const model::Model& model) {
    const Table& t = table();
    const std::string id = dashed(model.id);
    FamilyFacts facts;
    facts.name = "unlisted";
    facts.why = "no row: taken as sensitive (QUALITY d.2)";
    for (const Row& row : t.rows)
        if (holds(row.arch, model.architecture) && holds(row.family, model.family) &&
            (row.words.empty() || has_word(id, row.words))) {
            facts = row.facts;
            break;
        }
    facts.derivative = has_word(id, t.derivative_words);
    return facts;
}

bool is_training_format(const FamilyFacts& family, quant::Format format) {
    if (family.trained_in.empty()) return false;
    if (family.trained_in == "fp8")
        return format.family == quant::Family::fp8_block || format.family == quant::Family::fp8_channel ||
               format.family == quant::Family::fp8_tensor;
    if (format.family == quant::Family::mxfp4) return family.trained_in == "MXFP4";
    return quant::format_name(format) == family.trained_in;
}

}  // namespace memwall::quality
