#include "tests/quant/published_sizes.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "core/quant/recipe.h"
#include "tests/quant/dense_model.h"

namespace memwall::quant {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

PublishedSize parse_row(const std::string& line) {
    auto cells = split(line, ',');
    if (cells.size() == 8) cells.emplace_back();
    if (cells.size() != 9) throw std::runtime_error("gguf_sizes.csv: " + line);
    PublishedSize row;
    row.model = cells[0];
    row.recipe = cells[1];
    row.container = cells[2];
    row.tensors_only = cells[3] == "tensors";
    row.source = cells[7];
    row.variant = cells[8];
    row.exact = !cells[4].empty();
    if (row.exact) {
        row.bytes = std::stod(cells[4]);
    } else {
        const double unit = cells[6] == "GiB" ? 1073741824.0 : 1e9;
        const std::size_t decimals = cells[5].size() - 1 - cells[5].find('.');
        row.bytes = std::stod(cells[5]) * unit;
        row.step = unit * (decimals == 1 ? 0.1 : 0.01);
    }
    return row;
}

/// Models that the catalogue lacks and whose shape is a plain decoder's.
struct PlainModel {
    std::string_view id;
    const char* architecture;
    model::DenseShape shape;
};

constexpr PlainModel kPlainModels[] = {
    {"qwen2-vl-2b", "qwen2vl", {28, 1536, 8960, 12, 2, 128, 151936, true, true}},
    {"codellama-13b", "llama", {40, 5120, 13824, 40, 40, 128, 32016}},
    {"llama-30b", "llama", {60, 6656, 17920, 52, 52, 128, 32000}},
    {"open-llama-3b", "llama", {26, 3200, 8640, 32, 32, 100, 32000}},
    {"aya-expanse-32b", "command-r", {40, 8192, 24576, 64, 8, 128, 256000, true}},
    {"ministral-3-8b-2512", "mistral3", {34, 4096, 14336, 32, 8, 128, 131072}},
    {"ministral-3-14b-2512", "mistral3", {40, 5120, 16384, 32, 8, 128, 131072}},
    {"internlm2.5-1.8b", "internlm2", {24, 2048, 8192, 16, 8, 128, 92544}},
    {"smolvlm-500m", "llama", {32, 960, 2560, 15, 5, 64, 49280}},
    {"granite-3.0-1b-a400m", "granitemoe", {24, 1024, 512, 16, 8, 64, 49155, true, false, 32}},
    {"granite-3.0-3b-a800m", "granitemoe", {32, 1536, 512, 24, 8, 64, 49155, true, false, 40}},
    {"olmoe-1b-7b", "olmoe", {16, 2048, 1024, 16, 16, 128, 50304, false, false, 64}},
};

struct Twin {
    std::string_view id, of;
};

// The files of V3.2 leave its token indexer out.
constexpr Twin kTwins[] = {{"deepseek-v3.2", "deepseek-v3"}, {"kimi-k2-thinking", "kimi-k2"}};

std::optional<model::Model> descriptor(const std::string& id) {
    for (const PlainModel& p : kPlainModels)
        if (p.id == id) return model::dense_model(p.architecture, p.shape);
    for (const Twin& t : kTwins)
        if (t.id == id) return model::load_catalog_model(t.of);
    return model::load_catalog_model(id);
}

AssignOptions options_of(const PublishedSize& row) {
    AssignOptions options;
    if (row.has("no-imatrix")) options.imatrix = false;
    if (const auto format = row.value("embedding")) options.embedding = parse_format(*format);
    if (const auto format = row.value("output")) options.output = parse_format(*format);
    // Before tensors had categories, the fused projection had a rule of its own in these two file types.
    if (row.has("old-qkv"))
        options.overrides = {
            parse_override(row.recipe == "Q4_K_M" ? "attn_qkv=Q5_K" : "attn_qkv=Q6_K", "test")};
    if (row.has("mla-q8"))
        options.overrides = {parse_override("attn_(kv_a_mqa|k_b|v_b)=Q8_0", "test"),
                             parse_override("ffn_down_shexp=Q8_0", "test")};
    return options;
}

}  // namespace

bool PublishedSize::has(std::string_view word) const {
    const auto words = split(variant, ' ');
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<std::string> PublishedSize::value(std::string_view key) const {
    for (const std::string& word : split(variant, ' '))
        if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=')
            return word.substr(key.size() + 1);
    return std::nullopt;
}

std::vector<PublishedSize> read_published_sizes() {
    std::ifstream file(MEMWALL_TEST_DATA "/gguf_sizes.csv");
    std::vector<PublishedSize> rows;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#' && !line.starts_with("model,")) rows.push_back(parse_row(line));
    return rows;
}

std::optional<model::Model> model_of(const PublishedSize& row) {
    auto m = descriptor(row.model);
    if (!m) return std::nullopt;
    if (row.has("output-stored")) m->output = model::TiedOutput::untied;
    if (row.has("mtp")) m->prediction_in_gguf = true;
    if (row.has("no-mtp")) m->prediction_in_gguf = false;
    if (const auto tokens = row.value("tokens")) m->vocabulary += std::stoll(*tokens);
    model::generate_tensors(*m);
    shape_for_recipe(parse_recipe(row.recipe), *m);
    return m;
}

std::optional<double> computed_bytes(const PublishedSize& row) {
    try {
        parse_recipe(row.recipe);
    } catch (const Error&) {
        return std::nullopt;
    }
    const auto m = model_of(row);
    if (!m) return std::nullopt;
    const Recipe recipe = parse_recipe(row.recipe);
    const AssignOptions options = options_of(row);
    double bytes = weights_bytes(*m, assign(recipe, *m, options)).as_double() +
                   output_copy_bytes(recipe, *m, options).as_double();
    if (row.container == "safetensors")  // towers lie beside the text in 16 bits
        for (const model::Component& c : m->components) bytes += 2.0 * static_cast<double>(c.parameters);
    return bytes;
}

}  // namespace memwall::quant
