// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/verify_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "devices/host.h"
#include "gui/app/card.h"
#include "gui/app/side_column.h"
#include "gui/charts/export.h"
#include "gui/charts/paired_bars.h"
#include "gui/model/numbers.h"
#include "gui/model/probes_model.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

QTableView* plain_table(QAbstractItemModel* model, const QString& name) {
    auto* view = new QTableView;
    view->setModel(model);
    view->setShowGrid(false);
    view->setAlternatingRowColors(true);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->verticalHeader()->hide();
    view->verticalHeader()->setMinimumSectionSize(10);
    view->verticalHeader()->setDefaultSectionSize(QFontMetrics(type(Type::control)).height() + 6);
    view->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view->horizontalHeader()->setStretchLastSection(true);
    view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    view->setAccessibleName(name);
    return view;
}

}  // namespace

VerifyPage::VerifyPage(Session& session, QWidget* parent)
    : Page(session, parent),
      table_(new VerificationModel(verification_, this)),
      bars_(new PairedBars),
      bars_card_(new Card(
          tr("Predicted and achieved"),
          tr("outline = predicted, solid = achieved; whiskers = intervals; each row has its own scale"))),
      probes_card_(new Card(tr("What this machine does"))),
      detail_card_(new Card(tr("The row in words"))),
      views_(new QStackedWidget),
      empty_(new QLabel),
      detail_(new QLabel),
      probes_note_(new QLabel),
      probes_model_(new ProbesModel(this)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    row->addWidget(bars_card_, 64);
    side_ = new QVBoxLayout;
    side_->setSpacing(8);
    side_->addWidget(probes_card_, 6);
    side_->addWidget(detail_card_, 4);
    row->addLayout(side_, 36);
    for (QWidget* w : {static_cast<QWidget*>(bars_card_), static_cast<QWidget*>(probes_card_),
                       static_cast<QWidget*>(detail_card_)}) {
        w->setMinimumSize(200, 120);
        w->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    }
    table_view_ = plain_table(table_, tr("Predicted and achieved"));
    probes_ = plain_table(probes_model_, tr("What this machine does"));
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setWordWrap(true);
    empty_->setText(
        tr("Verify runs the project's own engine on this machine and holds each prediction against it: "
           "bytes allocated, resident memory, bandwidth, decode and first token.\n\n"
           "Calibrate first, then verify. Close other programs: a disturbed machine proves nothing."));
    set_role(empty_, "note");
    views_->addWidget(empty_);
    views_->addWidget(bars_);
    views_->addWidget(table_view_);
    bars_card_->set_content(views_);
    auto* probes_inside = new QWidget;
    auto* probes_column = new QVBoxLayout(probes_inside);
    probes_column->setContentsMargins(0, 0, 0, 0);
    for (QLabel* l : {probes_note_, detail_}) {
        l->setWordWrap(true);
        l->setMinimumWidth(1);
        l->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    }
    set_role(probes_note_, "note");
    probes_column->addWidget(probes_note_);
    probes_column->addWidget(probes_, 1);
    probes_card_->set_content(probes_inside);
    detail_card_->set_content(detail_);
    build_panel();

    auto* toggle = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_T), this);
    connect(toggle, &QShortcut::activated, this, [this] { show_table(views_->currentWidget() == bars_); });
    connect(bars_, &PairedBars::selected_changed, this, &VerifyPage::show_detail);
    const auto open = [this](int r) {
        if (const QString item = table_->data(table_->index(r, 0), VerificationModel::item_role).toString();
            !item.isEmpty())
            Q_EMIT open_ledger(item);
    };
    connect(bars_, &PairedBars::activated, this, open);
    connect(table_view_, &QTableView::doubleClicked, this, [open](const QModelIndex& i) { open(i.row()); });
    connect(table_view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& i) { show_detail(i.row()); });
    connect(&verification_, &Verification::verified, this, [this] {
        progress_note_->clear();
        draw();
        Q_EMIT results_changed();
    });
    connect(&verification_, &Verification::calibrated, this, [this] {
        draw_probes();
        use_device_->show();
        progress_note_->setText(tr("Saved to %1.").arg(verification_.profile()));
        Q_EMIT results_changed();
    });
    connect(&verification_, &Verification::failed, this, [this](const QString& why) {
        progress_note_->setText(why);
        Q_EMIT message(why);
    });
    connect(&verification_.worker(), &Worker::busy_changed, this, &VerifyPage::show_busy);
    connect(&verification_.worker(), &Worker::progressed, this, [this](double share, const QString& what) {
        progress_->setValue(static_cast<int>(1000 * share));
        progress_note_->setText(tr("%1 · %2 %").arg(what).arg(std::lround(100 * share)));
    });
    draw_probes();
    show_detail(-1);
}

QWidget* VerifyPage::side_panel() {
    return panel_;
}

void VerifyPage::refresh() {
    const QString path = Verification::default_profile();
    const bool saved = !path.isEmpty() && QFileInfo::exists(path);
    profile_note_->setText(path.isEmpty() ? tr("No folder to save a profile in.")
                           : saved        ? tr("A profile of this machine is in %1.").arg(path)
                                          : tr("Will be saved as %1.").arg(path));
    use_device_->setVisible(saved);
    if (!verification_.calibration()) draw_probes();
}

void VerifyPage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && verification_.run()) draw();
    Page::changeEvent(event);
}

void VerifyPage::show_table(bool on) {
    if (!verification_.run()) return;
    views_->setCurrentWidget(on ? static_cast<QWidget*>(table_view_) : bars_);
    views_->currentWidget()->setFocus();
}

std::vector<ResultCell> VerifyPage::results() const {
    std::vector<ResultCell> cells;
    const auto cell = [&](const QString& caption, const QString& value, const QString& note, double raw,
                          const char* tone = "") {
        ResultCell c;
        c.caption = caption;
        c.value = value;
        c.note = note;
        c.raw = raw;
        c.tone = QLatin1String(tone);
        cells.push_back(c);
    };
    if (!verification_.run()) {
        cell(tr("Verdict"), tr("not verified"), tr("press Verify"), 0);
        return cells;
    }
    const kernels::VerifyRun& r = *verification_.run();
    using kernels::Verdict;
    const auto holds = verification_.count(Verdict::holds), missed = verification_.count(Verdict::missed),
               unclear = verification_.count(Verdict::inconclusive),
               all = r.items.size() - verification_.count(Verdict::measured);
    const int status = r.exit_status();
    cell(tr("Verdict"),
         status == 0   ? tr("Predictions hold")
         : status == 1 ? tr("%1 missed").arg(missed)
                       : tr("Inconclusive"),
         status == 3 && !r.quiet ? tr("the machine was not quiet") : tr("%1 of %2 hold").arg(holds).arg(all),
         status,
         status == 0   ? "good"
         : status == 1 ? "bad"
                       : "warning");
    cell(tr("Hold"), QString::number(holds), tr("of %1 predictions").arg(all), static_cast<double>(holds),
         "good");
    cell(tr("Missed"), QString::number(missed), tr("outside their own interval"), static_cast<double>(missed),
         missed > 0 ? "bad" : "");
    cell(tr("Inconclusive"), QString::number(unclear),
         tr("%1 of %2 samples disturbed").arg(r.disturbed).arg(r.samples), static_cast<double>(unclear),
         unclear > 0 ? "warning" : "");
    cell(tr("Read bandwidth"), shown(rate_text(BytesPerSecond((r.read_low + r.read_high) / 2))),
         shown(rate_text(BytesPerSecond(r.read_low))) + QStringLiteral("–") +
             shown(rate_text(BytesPerSecond(r.read_high))),
         r.read_low);
    return cells;
}

bool VerifyPage::export_as(const QString& path, QString* why) {
    if (!path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)) return export_picture(*this, path, why);
    return export_table(*table_, path, why);
}

void VerifyPage::demonstrate() {
    if (verification_.run() || verification_.running()) return;
    kernels::VerifyOptions o;
    o.contexts = {128, 512};
    o.kv = {"f16", "int8"};
    o.models = {"small-dense", "small-experts"};
    o.runs = 3;
    verification_.verify(o);
}

Page* make_verify_page(Session& session) {
    return new VerifyPage(session);
}

}  // namespace memwall::gui
