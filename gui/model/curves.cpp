#include "gui/model/curves.h"

#include <algorithm>

#include "core/plan/options.h"

namespace memwall::gui {
namespace {

/// Everything but one number, as text: what the curve over that number depends on.
std::string key_without(const devices::Planned& p, std::int64_t plan::Deployment::*number) {
    plan::Deployment d = p.prepared.deployment;
    d.*number = 0;
    return plan::command_line(d);
}

}  // namespace

std::int64_t round_axis(std::int64_t tokens) {
    std::int64_t step = 1024;
    while (step < tokens) {
        if (step + step / 2 >= tokens) return step + step / 2;
        step *= 2;
    }
    return step;
}

const Curves& CurveSampler::of(const devices::Planned& p, bool keep_axis) {
    const std::string key = key_without(p, &plan::Deployment::context);
    const std::int64_t trained = p.prepared.model.trained_context;
    std::int64_t end = round_axis(plan::context_axis_end(p.prepared, p.knobs, p.advice));
    if (trained > 0 && end > trained && p.knobs.context <= trained) end = trained;
    if (keep_axis && p.knobs.context <= curves_.context_end) end = curves_.context_end;
    if (key != context_key_ || end != curves_.context_end) {
        curves_.context =
            plan::context_curve(p.prepared, p.knobs, p.target, p.plan.memory.deciding_pool, end);
        curves_.context_end = end;
        context_key_ = key;
    }
    const std::string prompt_key = key_without(p, &plan::Deployment::prompt);
    if (prompt_key != prompt_key_) {
        curves_.prompt_last = std::max<std::int64_t>(p.knobs.context, 64);
        curves_.prompt_first = std::min<std::int64_t>(32, curves_.prompt_last / 2);
        curves_.prompt =
            plan::prompt_curve(p.prepared, p.knobs, p.target, curves_.prompt_first, curves_.prompt_last);
        prompt_key_ = prompt_key;
    }
    curves_.decode.clear();
    curves_.prefill.clear();
    if (p.plan.speed.decode_known)
        curves_.decode = plan::operator_times(p.prepared, p.knobs, p.target, plan::decode_phase(p.knobs));
    if (p.plan.speed.prefill_known)
        curves_.prefill = plan::operator_times(p.prepared, p.knobs, p.target, plan::prefill_phase(p.knobs));
    return curves_;
}

}  // namespace memwall::gui
