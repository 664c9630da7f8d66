#include "core/device/calibration.h"

#include <algorithm>

namespace memwall::device {

const ProbeResult* Calibration::find(std::string_view probe, int wanted) const {
    const auto at = std::find_if(results.begin(), results.end(), [&](const ProbeResult& r) {
        return r.probe == probe && r.threads == wanted;
    });
    return at == results.end() ? nullptr : &*at;
}

const ProbeResult* Calibration::widest(std::string_view probe) const {
    const ProbeResult* widest = nullptr;
    for (const ProbeResult& r : results)
        if (r.probe == probe && (!widest || r.threads > widest->threads)) widest = &r;
    return widest;
}

BytesPerSecond Calibration::read_bandwidth(int wanted) const {
    double socket = 0;
    for (const ProbeResult& r : results)
        if (r.probe == "read") socket = std::max(socket, r.median);
    const ProbeResult* one = find("read", 1);
    return BytesPerSecond(one && wanted > 0 ? std::min(wanted * one->median, socket) : socket);
}

void Calibration::scale_bandwidth(double factor) {
    for (ProbeResult& r : results)
        if (r.probe == "read" || r.probe == "copy" || r.probe == "triad")
            for (double* value : {&r.median, &r.low, &r.high, &r.min, &r.max}) *value *= factor;
}

}  // namespace memwall::device
