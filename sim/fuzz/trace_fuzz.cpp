// libFuzzer target: a trace is read into requests in order, the first at 0, or refused with an Error; the
// names of its blocks follow from it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/error.h"
#include "sim/workload/app.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace memwall;
    using namespace memwall::sim;
    App app;
    try {
        app.trace = std::make_shared<const std::vector<TraceRequest>>(
            read_trace({reinterpret_cast<const char*>(data), size}, "fuzz.csv"));
    } catch (const Error&) {
        return 0;
    }
    Nanoseconds last = 0;
    if (app.trace->empty() || app.trace->front().arrival != 0) std::abort();
    for (std::size_t i = 0; i < app.trace->size(); ++i) {
        const TraceRequest& r = (*app.trace)[i];
        if (r.arrival < last || r.prompt < 1 || r.output < 1) std::abort();
        last = r.arrival;
        const Turn turn = Session(app, 0, i, 1).next();
        std::vector<std::uint64_t> names;
        const std::int64_t tokens = std::min<std::int64_t>(turn.prompt, 4096);
        name_blocks(turn, tokens, 16, names);
        if (static_cast<std::int64_t>(names.size()) != tokens / 16) std::abort();
    }
    return 0;
}
