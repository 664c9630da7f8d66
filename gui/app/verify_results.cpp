// SPDX-License-Identifier: GPL-3.0-only
// What came out: the paired bars, the probes of this machine, and one row in words.
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "devices/host.h"
#include "gui/app/card.h"
#include "gui/app/verify_page.h"
#include "gui/charts/paired_bars.h"
#include "gui/model/numbers.h"
#include "gui/model/probes_model.h"
#include "gui/model/vocabulary.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

void VerifyPage::draw() {
    const Theme& t = theme();
    std::vector<PairedBar> rows;
    for (int r = 0; r < table_->rowCount(); ++r) {
        const kernels::VerifyItem& i = table_->item(r);
        const auto cell = [&](VerificationModel::Column c) {
            return table_->data(table_->index(r, c)).toString();
        };
        PairedBar b;
        b.name = cell(VerificationModel::model) + QStringLiteral(" · ") + cell(VerificationModel::what);
        QStringList detail;
        for (const auto c : {VerificationModel::kv, VerificationModel::context})
            if (!cell(c).isEmpty()) detail << cell(c);
        b.detail = detail.join(QStringLiteral(" · "));
        b.predicted = i.predicted;
        b.predicted_low = i.low;
        b.predicted_high = i.high;
        b.achieved = i.achieved.median;
        b.achieved_low = i.achieved.low;
        b.achieved_high = i.achieved.high;
        b.predicted_text = cell(VerificationModel::predicted);
        b.achieved_text = cell(VerificationModel::achieved);
        b.verdict = cell(VerificationModel::verdict);
        switch (i.verdict) {
            case kernels::Verdict::holds:
                b.mark = QStringLiteral("✓"), b.tone = t.good;
                break;
            case kernels::Verdict::missed:
                b.mark = QStringLiteral("✗"), b.tone = t.bad;
                break;
            case kernels::Verdict::inconclusive:
                b.mark = QStringLiteral("?"), b.tone = t.warning;
                break;
            case kernels::Verdict::measured:
                b.mark = QStringLiteral("·"), b.tone = t.second;
                break;
        }
        rows.push_back(std::move(b));
    }
    bars_->set_rows(std::move(rows));
    if (views_->currentWidget() == empty_) views_->setCurrentWidget(bars_);
    if (bars_->selected() < 0 && table_->rowCount() > 0) bars_->set_selected(0);
    show_detail(bars_->selected());
}

void VerifyPage::draw_probes() {
    std::optional<device::Calibration> c;
    if (verification_.calibration()) {
        c = verification_.calibration()->device.calibration;
    } else {
        try {
            c = devices::host_device().calibration;
        } catch (const Error& e) {
            probes_note_->setText(text_of(e.what()));
            return;
        }
    }
    if (!c) {
        probes_note_->setText(
            tr("Not calibrated yet: plans for this machine rest on what its class usually does."));
        probes_model_->set_results({});
        probes_->hide();
        side_->setStretchFactor(probes_card_, 1);  // a sentence needs no room
        return;
    }
    probes_note_->setText(tr("%1 · %2 · threads: %3 · pages: %4")
                              .arg(text_of(c->date), text_of(c->isa))
                              .arg(c->threads)
                              .arg(text_of(c->pages)));
    probes_model_->set_results(c->results);
    probes_->show();
    side_->setStretchFactor(probes_card_, 6);
    probes_->resizeColumnsToContents();
}

void VerifyPage::show_detail(int row) {
    if (row < 0 || row >= table_->rowCount()) {
        detail_->setText(tr("Choose a row; Enter opens its line in the ledger."));
        set_role(detail_, "note");
        restyle(detail_);
        return;
    }
    set_role(detail_, "");
    restyle(detail_);
    const kernels::VerifyItem& i = table_->item(row);
    // A word joiner: "GB/s" does not wrap behind its stroke.
    const auto value = [&](double v) {
        return shown(measured_text(v, i.unit)).replace(u'/', QStringLiteral("/\u2060"));
    };
    QStringList lines;
    lines << QStringLiteral("<b>%1</b>")
                 .arg((table_->data(table_->index(row, VerificationModel::model)).toString() +
                       QStringLiteral(" · ") + in_words(i.what))
                          .toHtmlEscaped());
    if (i.predicted > 0)
        lines << (i.low < i.high ? tr("Predicted %1, and said %2 to %3.")
                                       .arg(value(i.predicted), value(i.low), value(i.high))
                                 : tr("Predicted exactly %1.").arg(value(i.predicted)));
    else
        lines << tr("Nothing was predicted: this is an input of the predictions.");
    lines << (i.achieved.samples > 1
                  ? tr("Achieved %1; the median lies between %2 and %3 (samples: %4).")
                        .arg(value(i.achieved.median), value(i.achieved.low), value(i.achieved.high))
                        .arg(i.achieved.samples)
                  : tr("Achieved %1.").arg(value(i.achieved.median)));
    if (i.achieved.unclean > 0) lines << tr("Disturbed samples: %1.").arg(i.achieved.unclean);
    if (!i.achieved.how.empty()) lines << text_of(i.achieved.how).toHtmlEscaped();
    detail_->setText(lines.join(QStringLiteral("<br>")));
    detail_->setProperty("raw", i.achieved.median);
}

}  // namespace memwall::gui
