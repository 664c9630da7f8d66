// data/priors.yaml to PriorBook and back.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <utility>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/speed/priors.h"

namespace memwall::speed {
namespace {

using Field = std::pair<const char*, double PriorBook::*>;
constexpr std::array kBookFields = {
    Field{"level", &PriorBook::level},
    Field{"quantile", &PriorBook::quantile},
    Field{"prefill_quantile", &PriorBook::prefill_quantile},
    Field{"noise", &PriorBook::noise},
    Field{"prefill_noise", &PriorBook::prefill_noise},
    Field{"common_spread", &PriorBook::common_spread},
    Field{"judged_spread", &PriorBook::judged_spread},
    Field{"cpu_flops_per_weight", &PriorBook::cpu_flops_per_weight},
    Field{"gpu_flops_per_weight", &PriorBook::gpu_flops_per_weight},
    Field{"simple_block_cost", &PriorBook::simple_block_cost},
    Field{"split_field_cost", &PriorBook::split_field_cost},
    Field{"nested_matrix_cost", &PriorBook::nested_matrix_cost},
    Field{"overhead_per_year", &PriorBook::overhead_per_year},
    Field{"served_overhead", &PriorBook::served_overhead},
    Field{"unfused_kv", &PriorBook::unfused_kv},
    Field{"unfused_score_bytes", &PriorBook::unfused_score_bytes},
    Field{"unfused_attention", &PriorBook::unfused_attention},
    Field{"cpu_width_exponent", &PriorBook::cpu_width_exponent},
    Field{"expert_overhead", &PriorBook::expert_overhead},
};

using FamilyField = std::pair<const char*, double FamilyPrior::*>;
constexpr std::array kFamilyFields = {
    FamilyField{"weights", &FamilyPrior::weights},
    FamilyField{"kv", &FamilyPrior::kv},
    FamilyField{"layer_overhead", &FamilyPrior::layer_overhead},
    FamilyField{"utilisation", &FamilyPrior::utilisation},
    FamilyField{"attention", &FamilyPrior::attention},
    FamilyField{"spread", &FamilyPrior::spread},
    FamilyField{"prefill_spread", &FamilyPrior::prefill_spread},
};

template <class T>
T value(const YAML::Node& node, const char* key, const std::string& name) {
    const YAML::Node v = node[key];
    if (!v) throw Error(fmt::format("{}:{}", name, node.Mark().line + 1), fmt::format("no '{}'", key));
    return v.as<T>();
}

}  // namespace

PriorBook read_priors(std::string_view yaml, const std::string& name) {
    try {
        const YAML::Node root = YAML::Load(std::string(yaml));
        PriorBook book;
        for (const auto& [key, member] : kBookFields) book.*member = value<double>(root, key, name);
        const auto spread = value<YAML::Node>(root, "spread", name);
        for (std::size_t i = 0; i < rate_count; ++i)
            book.spread[i] = value<double>(spread, rate_name(static_cast<Rate>(i)).data(), name);
        for (const auto& entry : value<YAML::Node>(root, "families", name)) {
            FamilyPrior family;
            for (const auto& [key, member] : kFamilyFields)
                family.*member = value<double>(entry.second, key, name);
            family.devices = value<int>(entry.second, "devices", name);
            family.prefill_devices = value<int>(entry.second, "prefill_devices", name);
            book.families.emplace(entry.first.as<std::string>(), family);
        }
        for (const auto& entry : value<YAML::Node>(root, "classes", name))
            book.add_class(entry.first.as<std::string>(), value<std::string>(entry.second, "family", name),
                           value<bool>(entry.second, "judged", name));
        return book;
    } catch (const YAML::Exception& e) {
        throw Error(fmt::format("{}:{}", name, e.mark.line + 1), e.msg, "a book of speed priors");
    }
}

std::string write_priors(const PriorBook& book) {
    std::string out =
        "schema: memwall/speed-priors/1\n"
        "# Written by speed_fit from tests/data/speed/points.yaml; docs/speed.md explains the law and every "
        "name.\n"
        "# Rates are shares of a peak; deviations are of natural logarithms.\n";
    for (const auto& [key, member] : kBookFields) out += fmt::format("{}: {:.4g}\n", key, book.*member);
    out += "spread:  # log deviation of each rate between devices of one family\n";
    for (std::size_t i = 0; i < rate_count; ++i)
        out += fmt::format("  {}: {:.3g}\n", rate_name(static_cast<Rate>(i)), book.spread[i]);
    out += "families:\n";
    for (const auto& [name, family] : book.families) {
        out += fmt::format("  {}: {{", name);
        for (const auto& [key, member] : kFamilyFields)
            out += fmt::format("{}: {:.3g}, ", key, family.*member);
        out += fmt::format("devices: {}, prefill_devices: {}}}\n", family.devices, family.prefill_devices);
    }
    out += "classes:\n";
    for (const auto& [name, c] : book.classes)
        out += fmt::format("  {}: {{family: {}, judged: {}}}\n", name, c.family, c.judged);
    return out;
}

const PriorBook& priors() {
    static const PriorBook book = [] {
        constexpr std::string_view path = "speed/priors.yaml";
        const EmbeddedFile* file = embedded_speed().find(path);
        if (!file) throw Error(std::string(path), "not embedded");
        return read_priors(file->text(), std::string(path));
    }();
    return book;
}

}  // namespace memwall::speed
