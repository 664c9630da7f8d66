// SPDX-License-Identifier: GPL-3.0-only
#include "gui/tests/made_up_run.h"

namespace memwall::gui::tests {

kernels::VerifyRun made_up_run() {
    kernels::VerifyRun run;
    run.isa = "avx2";
    run.threads = 2;
    run.read_low = 9e9;
    run.read_high = 9.2e9;
    run.quiet = true;
    run.samples = 21;
    const auto item = [&](const char* model, const char* what, const char* kv, std::int64_t context,
                          const char* unit, double predicted, double share, double achieved) {
        kernels::VerifyItem i;
        i.model = model;
        i.what = what;
        i.kv = kv;
        i.context = context;
        i.unit = unit;
        i.predicted = predicted;
        i.low = predicted * (1 - share);
        i.high = predicted * (1 + share);
        i.achieved.median = achieved;
        i.achieved.low = achieved * 0.99;
        i.achieved.high = achieved * 1.01;
        i.achieved.samples = 7;
        i.timed = share > 0;
        i.verdict = kernels::judge(i);
        run.items.push_back(i);
    };
    item("", "read bandwidth", "", 0, "B/s", 0, 0, 9.1e9);
    item("small-dense", "allocated weights", "", 0, "B", 5.0e8, 0, 5.0e8);
    item("small-dense", "decode", "f16", 512, "tokens/s", 40, 0.07, 41);
    item("small-experts", "decode", "int8", 512, "tokens/s", 60, 0.07, 40);
    run.items[1].achieved.low = run.items[1].achieved.high = run.items[1].achieved.median;
    run.items[1].achieved.samples = 1;
    run.items[1].verdict = kernels::judge(run.items[1]);
    return run;
}

}  // namespace memwall::gui::tests
