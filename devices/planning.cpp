#include "devices/planning.h"

#include "core/base/error.h"
#include "core/model/open_model.h"
#include "core/plan/auto_placement.h"
#include "core/plan/measured.h"
#include "devices/catalog.h"
#include "devices/device_fields.h"

namespace memwall::devices {
namespace {

/// --set device.FIELD=VALUE; model fields are applied by prepare().
void apply_device_what_ifs(device::Device& device, const std::vector<std::string>& sets) {
    for (const std::string& s : sets) {
        const std::size_t equals = s.find('=');
        if (s.starts_with("device.") && equals != std::string::npos)
            set_field(device, s.substr(7, equals - 7), s.substr(equals + 1), "--set");
    }
}

}  // namespace

model::Model open_named_model(const std::string& argument) {
    return model::open_model(argument).model;
}

Opened open_deployment(const plan::Deployment& stated) {
    Opened o;
    model::OpenedModel opened = model::open_model(stated.model);
    o.deployment = stated;
    if (o.deployment.quant.empty() && !opened.model.tensors_from_file)
        o.deployment.quant = opened.recipe_hint;
    o.model = std::move(opened.model);
    o.device = open_device(stated);
    return o;
}

device::Device open_device(const plan::Deployment& stated) {
    device::Device device = resolve_device(stated.device, "--device");
    apply_device_what_ifs(device, stated.set);
    return device;
}

Planned make_plan(const plan::Deployment& stated) {
    Planned p;
    Opened opened = open_deployment(stated);
    p.prepared = plan::prepare(std::move(opened.model), opened.deployment, open_named_model);
    p.target = plan::aim(p.prepared, std::move(opened.device));
    plan::apply_measurements(p.target, p.prepared, open_named_model);
    p.knobs = plan::place_automatically(p.prepared, p.target, plan::resolve_knobs(p.prepared, p.target));
    p.plan = plan::evaluate(p.prepared, p.knobs, p.target);
    p.advice = plan::advise(p.prepared, p.knobs, p.target, p.plan);
    return p;
}

}  // namespace memwall::devices
