// Plans for tests: catalogue model and device, options as typed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "core/plan/auto_placement.h"
#include "core/plan/measured.h"
#include "core/plan/options.h"
#include "core/plan/prepare.h"
#include "devices/catalog.h"

namespace memwall::test {

inline model::Model open_catalog(const std::string& id) {
    auto m = model::load_catalog_model(id);
    if (!m) throw Error("", "no model " + id);
    return *std::move(m);
}

struct TestPlan {
    plan::Prepared prepared;
    plan::Target target;
    plan::Knobs knobs;
    plan::Plan plan;
};

using Options = std::vector<std::pair<std::string, std::string>>;

inline TestPlan make_test_plan(const std::string& model, const std::string& device,
                               const Options& options = {}) {
    plan::Deployment d;
    d.model = model;
    d.device = device;
    for (const auto& [name, value] : options) {
        const plan::Option* o = plan::find_option(name);
        if (!o) throw Error("--" + name, "no such option");
        o->set(d, value, "--" + name);
    }
    TestPlan t;
    t.prepared = plan::prepare(open_catalog(model), d, open_catalog);
    t.target = plan::aim(t.prepared, devices::resolve_device(device));
    plan::apply_measurements(t.target, t.prepared, open_catalog);
    t.knobs = plan::place_automatically(t.prepared, t.target, plan::resolve_knobs(t.prepared, t.target));
    t.plan = plan::evaluate(t.prepared, t.knobs, t.target);
    return t;
}

}  // namespace memwall::test
