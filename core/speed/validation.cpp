#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/speed/calibrate.h"
#include "core/speed/fit.h"

namespace memwall::speed {
namespace {

double median(std::vector<double> v) {
    if (v.empty()) return 0;
    std::sort(v.begin(), v.end());
    const std::size_t n = v.size();
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

}  // namespace

double Prediction::log_error() const {
    return std::log(predicted / measured);
}

std::vector<Prediction> predict(const MeasuredPoint& p, const Machine& m) {
    std::vector<Prediction> out;
    if (p.regime != MeasuredPoint::Regime::resident) return out;
    const auto add = [&](bool prefill, double measured, const Interval<Seconds>& t,
                         const RateVector& gradient) {
        out.push_back({&p, prefill, t.central.value, measured, t.low.value, t.high.value, gradient});
    };
    if (p.decode_per_second > 0)
        add(false, p.decode_seconds(), decode_step(p.work, m, p.kv, p.settings).total,
            step_time(step_load(p.work, m, p.kv, p.settings), m.rates.central).gradient());
    if (p.prefill_per_second > 0)
        add(true, p.prefill_seconds(), prefill(p.work, m, p.kv, p.settings).total,
            prefill_time(prefill_load(p.work, m, p.kv, p.settings), m.rates.central).gradient());
    return out;
}

std::vector<Prediction> predict(const MeasuredPoint& point, const PriorBook& book) {
    return predict(point, point.machine(book));
}

Validation validate(const PointSet& set) {
    Validation v;
    v.book = fit_centres(set);
    for (const MeasuredPoint& p : set.points)
        if (!v.books.count(p.device)) v.books[p.device] = fit_centres(set, p.device, &v.book);
    std::vector<Prediction> honest;
    for (const MeasuredPoint& p : set.points) {
        if (p.set == MeasuredPoint::Set::cases) continue;
        const std::vector<Prediction> rows = predict(p, v.books.at(p.device));
        honest.insert(honest.end(), rows.begin(), rows.end());
    }
    fit_widths(v.book, honest);
    for (auto& [device, book] : v.books) fit_widths(book, honest, device);
    for (const MeasuredPoint& p : set.points) {
        const std::vector<Prediction> rows = predict(p, v.books.at(p.device));
        v.predictions.insert(v.predictions.end(), rows.begin(), rows.end());
    }
    return v;
}

std::vector<Prediction> predict_calibrated(const PointSet& set, const Validation& v, Anchors anchors) {
    std::map<std::pair<std::string, int>, std::vector<const MeasuredPoint*>> machines;
    const bool prompts = anchors == Anchors::one_prompt;
    for (const MeasuredPoint& p : set.points)
        if (p.set == MeasuredPoint::Set::scored && p.regime == MeasuredPoint::Regime::resident &&
            (prompts ? p.prefill_per_second : p.decode_per_second) > 0)
            machines[{p.device, p.traits.engine_year}].push_back(&p);
    std::vector<Prediction> out;
    for (auto& [key, rows] : machines) {
        auto& points = rows;  // Clang 14 captures no structured binding
        const auto tokens = [&](const MeasuredPoint* p) {
            return prompts ? p->settings.prompt : p->settings.context;
        };
        std::stable_sort(points.begin(), points.end(), [&](const MeasuredPoint* a, const MeasuredPoint* b) {
            return std::pair(tokens(a), a->work.stored_bytes) < std::pair(tokens(b), b->work.stored_bytes);
        });
        const auto same = [&](const MeasuredPoint* other) {
            return std::count_if(points.begin(), points.end(),
                                 [&](const MeasuredPoint* p) { return tokens(p) == tokens(other); });
        };
        const std::ptrdiff_t shortest = same(points.front());
        std::vector<const MeasuredPoint*> given;
        if (anchors == Anchors::smallest_and_largest)
            given = {points.front(), points[static_cast<std::size_t>(shortest - 1)]};
        if (anchors == Anchors::one_prompt) given = {points[static_cast<std::size_t>(shortest / 2)]};
        if (anchors == Anchors::one_long)
            given = {points[points.size() - static_cast<std::size_t>(same(points.back()))]};
        if (points.size() <= given.size()) continue;
        std::vector<MeasuredRun> runs;
        for (const MeasuredPoint* p : given)
            runs.push_back({p->work, p->kv, p->settings, prompts ? 0 : p->decode_per_second,
                            prompts ? p->prefill_per_second : 0});
        Machine machine = points.front()->machine(v.books.at(key.first));
        calibrate(machine, runs);
        for (const MeasuredPoint* p : points) {
            if (std::find(given.begin(), given.end(), p) != given.end()) continue;
            for (const Prediction& r : predict(*p, machine))
                if (r.prefill == prompts) out.push_back(r);
        }
    }
    return out;
}

Score score(const std::vector<Prediction>& predictions) {
    Score s;
    std::vector<double> errors;
    std::map<std::string_view, std::vector<double>> devices;
    for (const Prediction& p : predictions) {
        const double e = std::abs(p.speed_error());
        errors.push_back(e);
        devices[p.point->device].push_back(e);
        s.mean += e;
        s.within_10 += e <= 0.1;
        s.within_20 += e <= 0.2;
        s.held += p.held();
    }
    s.rows = static_cast<int>(errors.size());
    s.devices = static_cast<int>(devices.size());
    if (!s.rows) return s;
    for (double* share : {&s.mean, &s.within_10, &s.within_20, &s.held}) *share /= s.rows;
    s.median = median(errors);
    std::vector<double> medians;
    for (auto& [device, list] : devices) medians.push_back(median(list));
    s.device_median = median(medians);
    return s;
}

}  // namespace memwall::speed
