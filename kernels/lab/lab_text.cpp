#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/size_text.h"
#include "core/view/text_table.h"
#include "kernels/lab/choice.h"
#include "kernels/lab/lab_view.h"

namespace memwall::lab {
namespace {

using view::Style;
using view::TextTable;

constexpr std::size_t kShownTensors = 30;

std::string db(double x) {
    return std::isinf(x) ? "exact" : fmt::format("{:.1f}", x);
}

/// Relative error in percent with two significant digits.
std::string percent(double share) {
    const double p = 100 * share;
    return fmt::format("{:.{}f} %", p, p >= 10 ? 0 : p >= 1 ? 1 : p >= 0.1 ? 2 : 3);
}

std::string heading(std::string_view text, bool colour) {
    return "\n" + view::styled(text, Style::bold, colour) + "\n";
}

std::string shape(const TensorReport& t) {
    std::string text = fmt::format("{} x {}", t.total_rows, t.cols);
    return t.rows < t.total_rows ? fmt::format("{} ({} rows)", text, t.rows) : text;
}

std::vector<std::string> outlier_cells(const Outliers& o) {
    return {fmt::format("{:.1f}", o.excess_kurtosis), fmt::format("{:.1f}", o.group_max_over_rms),
            fmt::format("{:.0f}", o.max_over_rms),    percent(o.top_energy),
            fmt::format("{:.1f}", o.channel_ratio),   fmt::format("{:+.1f}", o.rotation_gain_db)};
}

/// Tensors by their tails, heaviest first where not all are shown.
std::string tensor_table(const LabReport& r, bool colour) {
    std::vector<const TensorReport*> shown;
    for (const TensorReport& t : r.tensors) shown.push_back(&t);
    const bool cut = shown.size() > kShownTensors;
    if (cut) {
        std::stable_sort(shown.begin(), shown.end(), [](auto* a, auto* b) {
            return a->outliers.excess_kurtosis > b->outliers.excess_kurtosis;
        });
        shown.resize(kShownTensors);
    }
    TextTable table{{"tensor", "shape", "stored", ">kurtosis", ">group max", ">max", ">top 0.1 %", ">channel",
                     ">rotation", fmt::format("{:g} dB from", r.limit_db)},
                    {}};
    for (const TensorReport* t : shown) {
        std::vector<std::string> row{t->name, shape(*t), t->stored};
        for (std::string& cell : outlier_cells(t->outliers)) row.push_back(std::move(cell));
        const auto best = smallest_method(r, *t);
        row.push_back(best ? r.methods[*best].name : "none");
        table.rows.push_back(std::move(row));
    }
    std::string out = heading("Tensors", colour) + view::plain_table(table, colour);
    if (cut)
        out += fmt::format("... and {} more with lighter tails; --json has all\n",
                           r.tensors.size() - kShownTensors);
    return out +
           "  kurtosis: excess, 0 for a normal distribution; group max: largest of 128 values over their "
           "rms, median;\n"
           "  max: the same of the tensor; top 0.1 %: its share of the energy; channel: largest input "
           "channel's rms\n"
           "  over the median's; rotation: dB that a Hadamard rotation adds to int4-g128\n";
}

std::string method_table(const LabReport& r, bool colour) {
    const bool many = r.tensors.size() > 1;
    TextTable table;
    table.header = {"format", ">bits", many ? ">worst dB" : ">SQNR dB", ">error", ">worst tenth"};
    if (many)
        table.header.insert(table.header.end(), {">median dB", "worst tensor"});
    else
        table.header.insert(table.header.end(), {">worst row", ">row"});
    for (std::size_t m = 0; m < r.methods.size(); ++m) {
        std::vector<std::string> row{r.methods[m].name, fmt::format("{:.2f}", r.methods[m].bits)};
        const auto worst = worst_tensor(r, m);
        if (!worst) {
            row.push_back("-");
            row.resize(table.header.size() - 1);
            row.push_back(many ? "rows do not suit its blocks" : "");
            table.rows.push_back(std::move(row));
            continue;
        }
        const WeightError& e = r.tensors[worst->where].errors[m];
        row.insert(row.end(), {db(e.sqnr_db), percent(std::pow(10, -e.sqnr_db / 20)), db(e.worst_decile_db)});
        if (many) {
            std::vector<double> all;
            for (const TensorReport& t : r.tensors)
                if (t.errors[m].fits) all.push_back(t.errors[m].sqnr_db);
            std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                             all.end());
            row.push_back(db(all[all.size() / 2]));
            row.push_back(r.tensors[worst->where].name +
                          (all.size() < r.tensors.size()
                               ? fmt::format(" (suits {} of {})", all.size(), r.tensors.size())
                               : ""));
        } else {
            row.insert(row.end(), {db(e.worst_row_db), fmt::format("{}", e.worst_row)});
        }
        table.rows.push_back(std::move(row));
    }
    return heading("Formats", colour) + view::plain_table(table, colour) +
           "  SQNR: 10 log10(sum w^2 / sum of squared errors); error: its square root; worst tenth: of the "
           "rows\n";
}

std::string layer_table(const LabReport& r, bool colour) {
    TextTable table{{"tensor", "format", ">bits", ">rounding", ">GPTQ", ">AWQ", ">unseen: rounding", ">GPTQ",
                     ">AWQ", ">alpha"},
                    {}};
    TextTable inputs{{"tensor", ">tokens", ">inputs q8_0", ">inputs int8 a token"}, {}};
    for (const TensorReport& t : r.tensors) {
        if (!t.layer) continue;
        for (const LayerError& e : t.layer->formats)
            table.rows.push_back({t.name, e.format, fmt::format("{:.2f}", e.bits), percent(e.rounding),
                                  percent(e.gptq), percent(e.awq), percent(e.rounding_unseen),
                                  percent(e.gptq_unseen), percent(e.awq_unseen),
                                  fmt::format("{:.2f}", e.awq_alpha)});
        inputs.rows.push_back(
            {t.name, fmt::format("{} + {}", t.layer->calibration_tokens, t.layer->unseen_tokens),
             t.layer->inputs_q8_0 > 0 ? percent(t.layer->inputs_q8_0) : "-", percent(t.layer->inputs_int8)});
    }
    if (table.rows.empty()) return {};
    return heading(r.synthetic_inputs ? "Layer output error, synthetic inputs (correlated, one channel in "
                                        "128 at 20 to 100 times)"
                                      : "Layer output error, given inputs",
                   colour) +
           view::plain_table(table, colour) + "\n" + view::plain_table(inputs, colour) +
           "  |X (W' - W)| / |X W| on the tokens that calibrate, then on others; inputs: rounded inputs, "
           "exact weights\n";
}

std::string kv_table(const LabReport& r, bool colour) {
    if (r.kv.empty()) return {};
    std::string out = heading("Quantized KV cache, one synthetic head (128 wide, 2048 tokens)", colour);
    for (const KvReport& head : r.kv) {
        TextTable table{{head.head, ">bits", ">logit rms", ">softmax KL", ">output error",
                         ">rotated: logit rms", ">softmax KL", ">output error"},
                        {}};
        for (std::size_t i = 0; i + 1 < head.errors.size(); i += 2) {
            const KvError &a = head.errors[i], &b = head.errors[i + 1];
            std::vector<std::string> row{fmt::format("{} {}", a.keys ? "K" : "V", a.format),
                                         fmt::format("{:.2f}", a.bits)};
            for (const KvError* e : {&a, &b}) {
                row.push_back(e->keys ? fmt::format("{:.4f}", e->logit_rms) : "-");
                row.push_back(e->keys ? fmt::format("{:.2g}", e->softmax_kl) : "-");
                row.push_back(percent(e->output_error));
            }
            table.rows.push_back(std::move(row));
        }
        out += view::plain_table(table, colour) + "\n";
    }
    out.pop_back();
    return out;
}

}  // namespace

std::string lab_text(const LabReport& r, std::size_t width, bool colour) {
    std::string out = fmt::format("{}, {} tensor{}, seed {}\n", r.source, r.tensors.size(),
                                  r.tensors.size() == 1 ? "" : "s", r.seed);
    for (const std::string& note : r.notes) out += "Note: " + note + "\n";
    out += tensor_table(r, colour) + method_table(r, colour) + layer_table(r, colour) + kv_table(r, colour);
    out += heading("The choice these numbers support", colour);
    for (const std::string& choice : r.choices) {
        std::string indent = "- ";
        for (const std::string& line : view::wrapped(choice, std::max<std::size_t>(width, 42) - 2)) {
            out += indent + line + "\n";
            indent = "  ";
        }
    }
    return out;
}

}  // namespace memwall::lab
