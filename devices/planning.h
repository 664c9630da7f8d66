// The way from a deployment to a finished plan on a device of the catalogue: what the command, the checks,
// the simulator and the explorer all take.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/plan/advise.h"
#include "core/plan/prepare.h"

namespace memwall::devices {

struct Planned {
    plan::Prepared prepared;
    plan::Target target;
    plan::Knobs knobs;
    plan::Plan plan;
    plan::Advice advice;
};

/// What a deployment names, opened: its model, its device with the what-ifs applied, and the recipe that the
/// model's folder hints at filled in.
struct Opened {
    model::Model model;
    plan::Deployment deployment;
    device::Device device;
};
Opened open_deployment(const plan::Deployment& deployment);

/// The device alone, what-ifs applied.
device::Device open_device(const plan::Deployment& deployment);

/// How other models that options name are opened.
model::Model open_named_model(const std::string& argument);

/// Opens model and device, evaluates, advises. Throws Error.
Planned make_plan(const plan::Deployment& deployment);

/// The same for one deployment after another, as a window asks: what a change leaves as it was (the opened
/// model and device, the prepared model) is kept from the last plan. Gives what make_plan() gives. Files are
/// read again only after forget().
class Replanner {
  public:
    /// Without `advise` the advice stays empty: for the many alternatives of a list.
    Planned plan(const plan::Deployment& deployment, bool advise = true);
    void forget() { *this = Replanner(); }

  private:
    std::string model_name_;
    model::Model model_;
    std::string recipe_hint_;
    std::string device_name_;
    std::vector<std::string> set_;
    device::Device device_;
    plan::Deployment prepared_for_;  ///< as stated
    std::shared_ptr<const plan::Prepared> prepared_;
};

}  // namespace memwall::devices
