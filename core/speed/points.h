// Published measurements that the priors are fitted and scored on. The file (tests/data/speed/points.yaml)
// travels with the repository, not with the binary.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/speed/decode.h"
#include "core/speed/machine.h"
#include "core/speed/workload.h"

namespace memwall::speed {

/// One published run: decode, prefill or both.
struct MeasuredPoint {
    enum class Set : std::uint8_t {
        scored,  ///< the quoted leave-one-device-out scores are on these
        extra,   ///< more devices, for the fit
        cases    ///< independent reports: predicted, never fitted
    };
    enum class Regime : std::uint8_t { resident, offload, thrash };

    Set set = Set::scored;
    Regime regime = Regime::resident;
    std::string device;  ///< key; rows of one device are left out together
    std::string device_name, model, quant, engine, source, id;
    Traits traits;
    EngineInfo engine_info;
    Workload work;
    KvTraffic kv;
    double stored_bytes = 0;  ///< all weights; 0 = as many as a step reads
    SpeedSettings settings;   ///< context of the decode run, prompt of the prefill run
    double decode_per_second = 0, prefill_per_second = 0;  ///< 0 = not measured

    /// This point's machine under a book of priors.
    Machine machine(const PriorBook& book) const;
    double decode_seconds() const { return 1 / decode_per_second; }
    double prefill_seconds() const { return static_cast<double>(settings.prompt) / prefill_per_second; }
};

struct PointSet {
    std::vector<MeasuredPoint> points;
    PriorBook skeleton;  ///< families, classes, starting values and spreads that the fit begins with
};

/// Throws Error naming the line.
PointSet read_points(std::string_view yaml, const std::string& name);

}  // namespace memwall::speed
