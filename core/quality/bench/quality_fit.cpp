// Fits the losses on the embedded evidence, scores them with models and families left out, and writes them.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "core/base/error.h"
#include "core/quality/fitting.h"

using namespace memwall;
using namespace memwall::quality;

namespace {

void print_score(const char* title, const FitScore& s) {
    fmt::print(
        "{:<46} {:>4} rows {:>3} models: x/{:.2f} (one s.d., ln {:.3f}), bias {:+.2f}, |ln| p50 {:.2f} p80 "
        "{:.2f} "
        "p90 {:.2f} p95 {:.2f}, 80 % band holds {:.0f} %\n",
        title, s.rows, s.groups, std::exp(s.rms), s.rms, s.bias, s.p50, s.p80, s.p90, s.p95, 100 * s.held80);
}

void print_groups(const std::vector<LeftOut>& rows, std::string FitRow::*group) {
    std::map<std::string, std::vector<LeftOut>> groups;
    for (const LeftOut& r : rows) groups[r.row->*group].push_back(r);
    for (const auto& [name, own] : groups) {
        const FitScore all = score(own, false);
        fmt::print("  {:<24} {:>4} rows  bias {:+.2f}  rms {:.2f}\n", name, all.rows, all.bias, all.rms);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<FitRow> rows = fit_rows();
        const auto models = leave_out(rows, LeaveOut::model, Form::additive);
        const auto families = leave_out(rows, LeaveOut::family, Form::additive);
        const auto curve = leave_out(rows, LeaveOut::model, Form::curve);
        const auto curve_families = leave_out(rows, LeaveOut::family, Form::curve);
        const FitBook book = fit_all(rows, fit_book());
        for (const LeftOut& r : models)
            fmt::print("{:<6} {:<24} {:<28} {:>5.2f} bits measured {:.4f} predicted {:.4f} x{:.2f}{}{}\n",
                       r.row->id, r.row->model, r.row->method, r.row->bits, r.row->ratio,
                       r.row->ratio * std::exp(r.log_error), std::exp(r.log_error),
                       r.row->in_valid_domain() ? "" : "  outside the valid domain",
                       r.held() ? "" : "  outside the band");
        fmt::print("\nEach model left out, types of every tensor known\n");
        print_groups(models, &FitRow::model);
        print_score("all rows", score(models, false));
        print_score("valid domain", score(models, true));
        fmt::print("\nEach family left out\n");
        print_groups(families, &FitRow::family);
        print_score("all rows", score(families, false));
        print_score("valid domain", score(families, true));
        fmt::print("\nMean bits only\n");
        print_score("each model left out, all rows", score(curve, false));
        print_score("each model left out, valid domain", score(curve, true));
        print_score("each family left out, valid domain", score(curve_families, true));
        fmt::print("\nInterpolated between two rows of the same model\n");
        print_score("all rows", score_interpolation(book, rows));
        const std::vector<FitRow> relative = relative_rows();
        const auto unseen = out_of_sample(book, relative);
        fmt::print("\nModels never seen, against their own Q4_K_M\n");
        for (const LeftOut& r : unseen)
            fmt::print("{:<6} {:<24} {:<10} {:>5.2f} bits x{:.2f}{}\n", r.row->id, r.row->model,
                       r.row->method, r.row->bits, std::exp(r.log_error),
                       r.held() ? "" : "  outside the band");
        print_groups(unseen, &FitRow::model);
        print_score("all rows", score(unseen, false));
        print_score("valid domain", score(unseen, true));
        fmt::print("\n{}", write_fit(book));
        if (argc == 2) {
            std::ofstream out(argv[1]);
            out << write_fit(book);
            if (!out) throw Error(argv[1], "cannot be written");
        }
        return 0;
    } catch (const Error& e) {
        fmt::print(stderr, "quality_fit: {}\n", e.what());
        return 2;
    }
}
