#include "core/quality/fit.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/embedded.h"
#include "core/base/error.h"

namespace memwall::quality {
namespace {

using Field = std::pair<const char*, double FitBook::*>;
constexpr std::array kFactors = {
    Field{"sensitive", &FitBook::sensitive},           Field{"small_below", &FitBook::small_below},
    Field{"small_exponent", &FitBook::small_exponent}, Field{"no_imatrix", &FitBook::no_imatrix},
    Field{"new_family", &FitBook::new_family},         Field{"other_file", &FitBook::other_file}};
constexpr std::array kCurve = {Field{"c0", &FitBook::c0},
                               Field{"c1", &FitBook::c1},
                               Field{"c2", &FitBook::c2},
                               Field{"c_k", &FitBook::c_k},
                               Field{"c_legacy", &FitBook::c_legacy},
                               Field{"c_no_imatrix", &FitBook::c_no_imatrix},
                               Field{"c_sensitive", &FitBook::c_sensitive}};
using SpreadField = std::pair<const char*, FitBook::Spread FitBook::*>;
constexpr std::array kSpreads = {SpreadField{"additive", &FitBook::additive},
                                 SpreadField{"interpolated", &FitBook::interpolated},
                                 SpreadField{"curve", &FitBook::curve}};

template <class T>
T value(const YAML::Node& node, const char* key, const std::string& name) {
    const YAML::Node v = node[key];
    if (!v) throw Error(fmt::format("{}:{}", name, node.Mark().line + 1), fmt::format("no '{}'", key));
    return v.as<T>();
}

}  // namespace

FitBook read_fit(std::string_view yaml, const std::string& name) {
    try {
        const YAML::Node root = YAML::Load(std::string(yaml));
        FitBook book;
        book.version = value<std::string>(root, "version", name);
        for (const auto& [key, member] : kFactors) book.*member = value<double>(root, key, name);
        const auto curve = value<YAML::Node>(root, "curve_terms", name);
        for (const auto& [key, member] : kCurve) book.*member = value<double>(curve, key, name);
        for (const auto& [key, member] : kSpreads) {
            const auto spread = value<YAML::Node>(root, key, name);
            book.*member = {value<double>(spread, "sigma", name), value<double>(spread, "at80", name),
                            value<double>(spread, "at95", name)};
        }
        for (const auto& entry : value<YAML::Node>(root, "types", name))
            book.types.emplace(entry.first.as<std::string>(), entry.second.as<double>());
        return book;
    } catch (const YAML::Exception& e) {
        throw Error(fmt::format("{}:{}", name, e.mark.line + 1), e.msg, "a fit of quality losses");
    }
}

std::string write_fit(const FitBook& book) {
    std::string out = fmt::format(
        "schema: memwall/quality-fit/1\n"
        "version: {}\n"
        "# Written by quality_fit from the embedded evidence; docs/quality.md explains the law and every "
        "name.\n",
        book.version);
    for (const auto& [key, member] : kFactors) out += fmt::format("{}: {:.4g}\n", key, book.*member);
    out += "# sigma: standard deviation of the logarithm; at80, at95: factors of the band\n";
    for (const auto& [key, member] : kSpreads)
        out += fmt::format("{}: {{sigma: {:.3g}, at80: {:.3g}, at95: {:.3g}}}\n", key, (book.*member).sigma,
                           (book.*member).at80, (book.*member).at95);
    out += "curve_terms: {";
    for (const auto& [key, member] : kCurve)
        out += fmt::format("{}{}: {:.4g}", key == kCurve.front().first ? "" : ", ", key, book.*member);
    out += "}\ntypes:  # loss of a model whose blocks are all of that type, with importance matrix\n";
    for (const auto& [name, loss] : book.types) out += fmt::format("  {}: {:.4g}\n", name, loss);
    return out;
}

const FitBook& fit_book() {
    static const FitBook book = [] {
        constexpr std::string_view path = "quality/fit.yaml";
        const EmbeddedFile* file = embedded_quality().find(path);
        if (!file) throw Error(std::string(path), "not embedded");
        return read_fit(file->text(), std::string(path));
    }();
    return book;
}

double type_loss(const FitBook& book, quant::Format format) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    if (format.family != quant::Family::ggml) return kUnknown;
    const quant::BlockFormat* block = quant::find_block_format(format.ggml_type);
    if (!block) return kUnknown;
    if (block->block_len == 1) return 0;  // floats and integers
    const auto it = book.types.find(block->name);
    return it == book.types.end() ? kUnknown : it->second;
}

double small_factor(const FitBook& book, double billions) {
    return billions > 0 && billions < book.small_below
               ? std::pow(book.small_below / billions, book.small_exponent)
               : 1;
}

TypeFamily type_family(std::string_view type) {
    if (type.starts_with("IQ")) return TypeFamily::i_quant;
    return type.find("_K") != std::string_view::npos ? TypeFamily::k_quant : TypeFamily::legacy;
}

double curve_loss(const FitBook& book, double bits, TypeFamily family, bool sensitive, bool imatrix) {
    const double b = bits - 4.5;
    double log = book.c0 + book.c1 * b + book.c2 * b * b;
    if (family == TypeFamily::k_quant) log += book.c_k;
    if (family == TypeFamily::legacy) log += book.c_legacy;
    if (!imatrix) log += book.c_no_imatrix;
    if (sensitive) log += book.c_sensitive;
    return std::exp(log);
}

}  // namespace memwall::quality
