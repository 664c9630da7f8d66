// Fits the class priors on the published points, scores them with each device left out, and writes them.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/speed/fit.h"
#include "tests/speed/spilled_rows.h"

using namespace memwall;
using namespace memwall::speed;

namespace {

void print_rows(const std::vector<Prediction>& rows, MeasuredPoint::Set set, bool prefill) {
    for (const Prediction& r : rows) {
        if (r.point->set != set || r.prefill != prefill) continue;
        const double tokens = prefill ? static_cast<double>(r.point->settings.prompt) : 1;
        fmt::print("{:<36.36} {:<18.18} {:<7} {:>7} {:>10.2f} {:>10.2f} {:>+6.1f}% [{:.2f}, {:.2f}]{}\n",
                   r.point->device_name, r.point->model, r.point->quant,
                   prefill ? r.point->settings.prompt : r.point->settings.context, tokens / r.predicted,
                   tokens / r.measured, 100 * r.speed_error(), tokens / r.high, tokens / r.low,
                   r.held() ? "" : "  outside");
    }
}

void print_score(const char* title, const std::vector<Prediction>& rows, MeasuredPoint::Set set,
                 bool prefill) {
    std::vector<Prediction> chosen;
    for (const Prediction& r : rows)
        if (r.point->set == set && r.prefill == prefill) chosen.push_back(r);
    const Score s = score(chosen);
    fmt::print(
        "{:<28} {:>4} rows {:>3} devices: median {:.1f} %, device median {:.1f} %, mean {:.1f} %, within 10 "
        "% {:.0f} "
        "%, within 20 % {:.0f} %, interval holds {:.0f} %\n",
        title, s.rows, s.devices, 100 * s.median, 100 * s.device_median, 100 * s.mean, 100 * s.within_10,
        100 * s.within_20, 100 * s.held);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 2 || argc > 3) {
            fmt::print(stderr, "usage: speed_fit POINTS.yaml [PRIORS.yaml to write]\n");
            return 2;
        }
        const PointSet set = read_points(read_text_file(argv[1]), argv[1]);
        const Validation v = validate(set);
        for (const bool prefill : {false, true}) {
            fmt::print("\n{} tokens/s, each device left out of the fit\n", prefill ? "Prefill" : "Decode");
            fmt::print("{:<36} {:<18} {:<7} {:>7} {:>10} {:>10} {:>7} 90 % interval\n", "device", "model",
                       "quant", prefill ? "prompt" : "context", "predicted", "measured", "error");
            for (const auto part :
                 {MeasuredPoint::Set::scored, MeasuredPoint::Set::extra, MeasuredPoint::Set::cases})
                print_rows(v.predictions, part, prefill);
        }
        fmt::print("\nDecode beyond the device's memory, by the whole planner with the shipped priors\n");
        for (const test::SpilledRow& r : test::predict_spilled(set))
            fmt::print("{:<36.36} {:<18.18} {:<7} {:>14} {:>10.2f} {:>10.2f} {:>+6.1f}% [{:.2f}, {:.2f}]{}\n",
                       r.point->device_name, r.point->model, r.point->quant, r.bound, r.decode.central.value,
                       r.point->decode_per_second,
                       100 * (r.decode.central.value / r.point->decode_per_second - 1), r.decode.low.value,
                       r.decode.high.value, r.held() ? "" : "  outside");
        fmt::print("\n");
        print_score("decode, scored", v.predictions, MeasuredPoint::Set::scored, false);
        print_score("decode, extra devices", v.predictions, MeasuredPoint::Set::extra, false);
        print_score("decode, reported cases", v.predictions, MeasuredPoint::Set::cases, false);
        print_score("prefill, scored", v.predictions, MeasuredPoint::Set::scored, true);
        print_score("prefill, extra devices", v.predictions, MeasuredPoint::Set::extra, true);
        print_score("prefill, reported cases", v.predictions, MeasuredPoint::Set::cases, true);
        for (const auto& [title, anchors] : {std::pair{"decode, two runs", Anchors::smallest_and_largest},
                                             std::pair{"decode, one long run", Anchors::one_long},
                                             std::pair{"prefill, one run", Anchors::one_prompt}}) {
            const std::vector<Prediction> rows = predict_calibrated(set, v, anchors);
            fmt::print("\n{}\n", title);
            print_rows(rows, MeasuredPoint::Set::scored, anchors == Anchors::one_prompt);
            print_score(title, rows, MeasuredPoint::Set::scored, anchors == Anchors::one_prompt);
        }
        if (argc == 3) {
            std::ofstream out(argv[2]);
            out << write_priors(v.book);
            if (!out) throw Error(argv[2], "cannot be written");
        }
        return 0;
    } catch (const Error& e) {
        fmt::print(stderr, "speed_fit: {}\n", e.what());
        return 2;
    }
}
