// The way from options to a finished plan, shared by plan, explain and compare.
#pragma once

#include <string>

#include "core/plan/advise.h"
#include "core/plan/prepare.h"

namespace memwall::cli {

struct Planned {
    plan::Prepared prepared;
    plan::Target target;
    plan::Knobs knobs;
    plan::Plan plan;
    plan::Advice advice;
};

/// Opens model and device, evaluates, advises. Throws Error.
Planned make_plan(const plan::Deployment& deployment);

}  // namespace memwall::cli
