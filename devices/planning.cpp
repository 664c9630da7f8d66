#include "devices/planning.h"

#include "core/base/error.h"
#include "core/model/open_model.h"
#include "core/plan/auto_placement.h"
#include "core/plan/measured.h"
#include "core/plan/options.h"
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

/// Whether prepare() would give the same for both: they differ in knobs and in what aim() reads.
bool same_prepared(plan::Deployment a, const plan::Deployment& b) {
    // Everything that prepare() does not look at.
    a.device = b.device;
    a.processor = b.processor;
    a.threads = b.threads;
    a.context = b.context;
    a.kv_k = b.kv_k;
    a.kv_v = b.kv_v;
    a.sequences = b.sequences;
    a.batch = b.batch;
    a.ubatch = b.ubatch;
    a.flash_attention = b.flash_attention;
    a.prompt = b.prompt;
    a.cached_prompt = b.cached_prompt;
    a.generate = b.generate;
    a.runtime_options = b.runtime_options;
    a.gpu_layers = b.gpu_layers;
    a.kv_pool = b.kv_pool;
    a.expert_pool = b.expert_pool;
    a.offload = b.offload;
    a.draft_tokens = b.draft_tokens;
    a.acceptance = b.acceptance;
    a.reserve = b.reserve;
    a.budget = b.budget;
    a.measured = b.measured;
    return a.model == b.model && plan::command_line(a) == plan::command_line(b);
}

/// From the prepared model on: aims it at the device, evaluates and advises.
Planned finish(plan::Prepared prepared, device::Device device, bool advise = true) {
    Planned p;
    p.prepared = std::move(prepared);
    p.target = plan::aim(p.prepared, std::move(device));
    plan::apply_measurements(p.target, p.prepared, open_named_model);
    p.knobs = plan::place_automatically(p.prepared, p.target, plan::resolve_knobs(p.prepared, p.target));
    p.plan = plan::evaluate(p.prepared, p.knobs, p.target);
    if (advise) p.advice = plan::advise(p.prepared, p.knobs, p.target, p.plan);
    return p;
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
    Opened opened = open_deployment(stated);
    return finish(plan::prepare(std::move(opened.model), opened.deployment, open_named_model),
                  std::move(opened.device));
}

Planned Replanner::plan(const plan::Deployment& stated, bool advise) {
    if (prepared_ == nullptr || model_name_ != stated.model) {
        model::OpenedModel opened = model::open_model(stated.model);
        prepared_ = nullptr;
        model_name_ = stated.model;
        recipe_hint_ = opened.model.tensors_from_file ? "" : opened.recipe_hint;
        model_ = std::move(opened.model);
    }
    if (device_name_.empty() || device_name_ != stated.device || set_ != stated.set) {
        device_ = open_device(stated);
        device_name_ = stated.device;
        set_ = stated.set;
    }
    if (prepared_ != nullptr && same_prepared(stated, prepared_for_)) {
        plan::Prepared prepared = *prepared_;
        prepared.deployment = stated;
        prepared.deployment.quant = prepared_->deployment.quant;
        return finish(std::move(prepared), device_, advise);
    }
    plan::Deployment deployment = stated;
    if (deployment.quant.empty()) deployment.quant = recipe_hint_;
    auto prepared =
        std::make_shared<const plan::Prepared>(plan::prepare(model_, deployment, open_named_model));
    Planned planned = finish(*prepared, device_, advise);
    prepared_ = std::move(prepared);
    prepared_for_ = stated;
    return planned;
}

}  // namespace memwall::devices
