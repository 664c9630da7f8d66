#include "cli/planning.h"

#include "core/base/error.h"
#include "core/model/open_model.h"
#include "core/plan/auto_placement.h"
#include "core/plan/measured.h"
#include "devices/catalog.h"
#include "devices/device_fields.h"

namespace memwall::cli {
namespace {

/// --set device.FIELD=VALUE; model fields are applied by prepare().
void apply_device_what_ifs(device::Device& device, const std::vector<std::string>& sets) {
    for (const std::string& s : sets) {
        const std::size_t equals = s.find('=');
        if (s.starts_with("device.") && equals != std::string::npos)
            devices::set_field(device, s.substr(7, equals - 7), s.substr(equals + 1), "--set");
    }
}

}  // namespace

Planned make_plan(const plan::Deployment& stated) {
    Planned p;
    plan::Deployment deployment = stated;
    model::OpenedModel opened = model::open_model(deployment.model);
    if (deployment.quant.empty() && !opened.model.tensors_from_file) deployment.quant = opened.recipe_hint;
    device::Device device = devices::resolve_device(deployment.device, "--device");
    apply_device_what_ifs(device, deployment.set);
    const plan::OpenModel open = [](const std::string& name) { return model::open_model(name).model; };
    p.prepared = plan::prepare(std::move(opened.model), deployment, open);
    p.target = plan::aim(p.prepared, std::move(device));
    plan::apply_measurements(p.target, p.prepared, open);
    p.knobs = plan::place_automatically(p.prepared, p.target, plan::resolve_knobs(p.prepared, p.target));
    p.plan = plan::evaluate(p.prepared, p.knobs, p.target);
    p.advice = plan::advise(p.prepared, p.knobs, p.target, p.plan);
    return p;
}

}  // namespace memwall::cli
