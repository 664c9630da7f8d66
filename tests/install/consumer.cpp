// What a user of the installed library writes.
#include <cstdio>

#include "core/model/catalog.h"
#include "core/plan/prepare.h"
#include "devices/catalog.h"

int main() {
    memwall::plan::Deployment deployment;
    deployment.quant = "Q4_K_M";
    const auto prepared =
        memwall::plan::prepare(*memwall::model::load_catalog_model("qwen2.5-7b"), deployment);
    const auto target = memwall::plan::aim(prepared, memwall::devices::resolve_device("raspberry-pi-5:8GiB"));
    const auto plan =
        memwall::plan::evaluate(prepared, memwall::plan::resolve_knobs(prepared, target), target);
    std::printf("%lld bytes\n", static_cast<long long>(plan.memory.total.central.value));
    return plan.verdict == memwall::plan::Verdict::fits ? 0 : 1;
}
