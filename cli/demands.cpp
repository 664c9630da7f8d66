#include "cli/demands.h"

#include "devices/recommend.h"

namespace memwall::cli {

void DemandOptions::add_to(CLI::App& app) {
    const auto table = plan::decision_options();
    values_.resize(table.size());
    for (std::size_t i = 0; i < table.size(); ++i)
        app.add_option("--" + std::string(table[i].name), values_[i], std::string(table[i].help))
            ->type_name(std::string(table[i].value))
            ->group("Decision");
}

plan::Demands DemandOptions::demands(plan::Deployment& deployment) const {
    plan::Demands d;
    const auto table = plan::decision_options();
    for (std::size_t i = 0; i < table.size(); ++i)
        if (!values_[i].empty()) table[i].set(d, values_[i], "--" + std::string(table[i].name));
    plan::apply_preset(d, deployment);
    return d;
}

void DemandOptions::add_axes_to(CLI::App& app) {
    app.add_option("--axis", axes_,
                   "search these values of runtime, quant, draft, kv, context, sequences or offload; may be "
                   "repeated")
        ->type_name("NAME=VALUE,...")
        ->allow_extra_args(false)
        ->group("Decision");
}

plan::Axes DemandOptions::axes() const {
    std::vector<devices::Axis> axes;
    for (const std::string& text : axes_) axes.push_back(devices::parse_axis(text, "--axis"));
    return devices::search_axes(axes);
}

}  // namespace memwall::cli
