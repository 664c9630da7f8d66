#include "kernels/lab/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace memwall::lab {
namespace {

constexpr double kNotableDb = 0.5;  // a difference worth a sentence
constexpr double kLongGroupsDb = 3;
constexpr std::size_t kNamed = 3;  // tensors named in a sentence
constexpr double kSmallKl = 0.01;  // of a softmax: about one token in twenty (QUALITY a.5)

std::string some_names(const std::vector<std::string>& names) {
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) list += (i ? ", " : "") + names[i];
    return names.size() > kNamed ? fmt::format("{} and {} more", list, names.size() - kNamed) : list;
}

std::string percent(double x) {
    return fmt::format("{:.{}f} %", 100 * x, x < 0.1 ? 1 : 0);
}

void smallest(const LabReport& r, std::vector<std::string>& out) {
    const double error = std::pow(10, -r.limit_db / 20);
    const std::string limit =
        fmt::format("{:g} dB (an error of {} of the weights)", r.limit_db, percent(error));
    std::optional<std::size_t> best;
    const bool many = r.tensors.size() > 1;
    for (std::size_t m = 0; m < r.methods.size(); ++m) {
        const auto worst = worst_tensor(r, m);
        if (!worst || worst->suited < r.tensors.size() || worst->sqnr_db < r.limit_db) continue;
        if (!best || r.methods[m].bits < r.methods[*best].bits ||
            (r.methods[m].bits == r.methods[*best].bits && worst->sqnr_db > worst_tensor(r, *best)->sqnr_db))
            best = m;
    }
    if (!best) {
        out.push_back(fmt::format("No format tried keeps {}{}.", limit, many ? " in every tensor" : ""));
    } else {
        const WorstTensor w = *worst_tensor(r, *best);
        out.push_back(fmt::format("Smallest format that keeps {}{}: {}, {:.2f} bits a weight, {:.1f} dB{}.",
                                  limit, many ? " in every tensor" : "", r.methods[*best].name,
                                  r.methods[*best].bits, w.sqnr_db,
                                  many ? " in the worst, " + r.tensors[w.where].name : ""));
    }
    if (!many || !best) return;
    // Where a smaller one would do, and the mean of a choice made tensor by tensor.
    double bits = 0, weights = 0;
    std::size_t smaller = 0;
    for (const TensorReport& t : r.tensors) {
        const auto own = smallest_method(r, t);
        const double n = static_cast<double>(t.total_rows) * static_cast<double>(t.cols);
        bits += n * r.methods[own.value_or(*best)].bits;
        weights += n;
        smaller += own && r.methods[*own].bits < r.methods[*best].bits;
    }
    if (smaller > 0)
        out.push_back(fmt::format(
            "Chosen tensor by tensor it takes {:.2f} bits a weight: {} of {} tensors keep it with fewer.",
            bits / weights, smaller, r.tensors.size()));
}

void beaten(const LabReport& r, std::vector<std::string>& out) {
    for (std::size_t m = 0; m < r.methods.size(); ++m) {
        const auto own = worst_tensor(r, m);
        if (!own) continue;
        std::optional<std::size_t> better;
        for (std::size_t o = 0; o < r.methods.size(); ++o) {
            const auto other = worst_tensor(r, o);
            if (!other || other->suited < own->suited || r.methods[o].bits > r.methods[m].bits ||
                other->sqnr_db < own->sqnr_db + kNotableDb)
                continue;
            if (!better || other->sqnr_db > worst_tensor(r, *better)->sqnr_db) better = o;
        }
        if (better)
            out.push_back(fmt::format(
                "{} is no choice here: {} keeps {:.1f} dB more in {:.2f} against {:.2f} bits.",
                r.methods[m].name, r.methods[*better].name, worst_tensor(r, *better)->sqnr_db - own->sqnr_db,
                r.methods[*better].bits, r.methods[m].bits));
    }
}

void tails(const LabReport& r, std::vector<std::string>& out) {
    std::vector<std::string> heavy, rotate;
    for (const TensorReport& t : r.tensors) {
        if (t.outliers.heavy()) heavy.push_back(t.name);
        if (t.outliers.rotate()) rotate.push_back(t.name);
    }
    if (!heavy.empty())
        out.push_back(
            fmt::format("Heavy tails in {} of {} tensors ({}): groups over 64 are not advised there.",
                        heavy.size(), r.tensors.size(), some_names(heavy)));
    if (!rotate.empty())
        out.push_back(fmt::format(
            "Outliers, not bits, limit {} of {} tensors ({}): a Hadamard rotation of 128 adds up to "
            "{:.1f} dB to int4-g128.",
            rotate.size(), r.tensors.size(), some_names(rotate),
            std::max_element(r.tensors.begin(), r.tensors.end(), [](auto& a, auto& b) {
                return a.outliers.rotation_gain_db < b.outliers.rotation_gain_db;
            })->outliers.rotation_gain_db));
    const auto find = [&](std::string_view name) -> std::optional<double> {
        for (std::size_t m = 0; m < r.methods.size(); ++m)
            if (r.methods[m].name == name)
                if (const auto w = worst_tensor(r, m)) return w->sqnr_db;
        return std::nullopt;
    };
    const auto group = find("int4-g128"), channel = find("int4-channel");
    if (group && channel && *group - *channel > kLongGroupsDb)
        out.push_back(fmt::format("One int4 scale a channel loses {:.1f} dB against groups of 128.",
                                  *group - *channel));
}

void layers(const LabReport& r, std::vector<std::string>& out) {
    for (std::size_t f = 0;; ++f) {
        double gptq = 0, awq = 0;
        std::size_t n = 0;
        std::string name;
        for (const TensorReport& t : r.tensors) {
            if (!t.layer || f >= t.layer->formats.size()) continue;
            const LayerError& e = t.layer->formats[f];
            gptq += std::log(e.gptq_unseen / e.rounding_unseen);
            awq += std::log(e.awq_unseen / e.rounding_unseen);
            name = e.format;
            ++n;
        }
        if (n == 0) return;
        gptq = std::exp(gptq / static_cast<double>(n));
        awq = std::exp(awq / static_cast<double>(n));
        out.push_back(fmt::format(
            "{}: on inputs it has not seen GPTQ leaves {:.2f} and AWQ {:.2f} of the output error of "
            "rounding{}.",
            name, gptq, awq, n > 1 ? fmt::format(" (geometric mean of {} layers)", n) : ""));
    }
}

void caches(const LabReport& r, std::vector<std::string>& out) {
    for (const KvReport& head : r.kv)
        for (const bool rotated : {false, true}) {
            const KvError* best = nullptr;
            for (const KvError& e : head.errors)
                if (e.keys && e.rotated == rotated && e.softmax_kl <= kSmallKl &&
                    (!best || e.bits < best->bits))
                    best = &e;
            if (best)
                out.push_back(fmt::format(
                    "{}{}: {} is the smallest that moves the softmax by at most {:g} nats ({:.4f}), "
                    "{:.2f} bits a value.",
                    head.head, rotated ? ", rotated" : "", best->format, kSmallKl, best->softmax_kl,
                    best->bits));
            else
                out.push_back(fmt::format("{}{}: no format moves the softmax by {:g} nats or less.",
                                          head.head, rotated ? ", rotated" : "", kSmallKl));
        }
}

}  // namespace

std::optional<std::size_t> smallest_method(const LabReport& r, const TensorReport& t) {
    std::optional<std::size_t> best;
    for (std::size_t m = 0; m < r.methods.size(); ++m) {
        const WeightError& e = t.errors[m];
        if (!e.fits || e.sqnr_db < r.limit_db) continue;
        if (!best || r.methods[m].bits < r.methods[*best].bits ||
            (r.methods[m].bits == r.methods[*best].bits && e.sqnr_db > t.errors[*best].sqnr_db))
            best = m;
    }
    return best;
}

std::optional<WorstTensor> worst_tensor(const LabReport& r, std::size_t method) {
    std::optional<WorstTensor> worst;
    for (std::size_t i = 0; i < r.tensors.size(); ++i) {
        const WeightError& e = r.tensors[i].errors[method];
        if (!e.fits) continue;
        if (!worst) worst = WorstTensor{e.sqnr_db, i, 0};
        if (e.sqnr_db < worst->sqnr_db) worst->sqnr_db = e.sqnr_db, worst->where = i;
        ++worst->suited;
    }
    return worst;
}

std::vector<std::string> choices(const LabReport& report) {
    std::vector<std::string> out;
    if (!report.tensors.empty()) {
        smallest(report, out);
        beaten(report, out);
        tails(report, out);
        layers(report, out);
    }
    caches(report, out);
    return out;
}

}  // namespace memwall::lab
