#include "tests/speed/spilled_rows.h"

#include <cmath>

#include "core/base/byte_source.h"
#include "tests/catch.h"

using namespace memwall;

TEST_CASE("published runs beyond the device's memory are predicted, not skipped", "[speed]") {
    const std::string path = MEMWALL_TEST_DATA "/speed/points.yaml";
    const speed::PointSet set = speed::read_points(read_text_file(path), path);
    const auto rows = test::predict_spilled(set);
    REQUIRE(rows.size() == 11);
    double log_error = 0;
    for (const test::SpilledRow& r : rows) {
        INFO(r.point->model << " measured " << r.point->decode_per_second << ", predicted "
                            << r.decode.central.value << " [" << r.decode.low.value << ", "
                            << r.decode.high.value << "], bound by " << r.bound);
        CHECK(r.held());
        CHECK((r.bound == "storage") == (r.point->regime == speed::MeasuredPoint::Regime::thrash));
        if (r.bound != "storage")
            log_error += std::abs(std::log(r.decode.central.value / r.point->decode_per_second));
    }
    CHECK(std::exp(log_error / 9) < 1.4);  // mean factor over the nine split runs
}
