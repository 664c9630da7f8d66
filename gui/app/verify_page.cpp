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
#include "gui/charts/export.h"
#include "gui/charts/paired_bars.h"
#include "gui/model/numbers.h"
#include "gui/model/probes_model.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

/// How much is verified: the whole default, or less for a first look.
struct Extent {
    const char* name;
    std::vector<std::int64_t> contexts;
    std::vector<std::string> kv;
};
const Extent kExtents[] = {
    {QT_TRANSLATE_NOOP("memwall::gui::VerifyPage", "three contexts, three KV types"),
     {128, 512, 2048},
     {"f16", "int8", "int4"}},
    {QT_TRANSLATE_NOOP("memwall::gui::VerifyPage", "one context, three KV types"),
     {512},
     {"f16", "int8", "int4"}},
    {QT_TRANSLATE_NOOP("memwall::gui::VerifyPage", "one context, f16"), {512}, {"f16"}},
};

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

void VerifyPage::build_panel() {
    panel_ = new QScrollArea;
    set_role(panel_, "panel");
    panel_->setWidgetResizable(true);
    panel_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* inside = new QWidget;
    set_role(inside, "panel");
    panel_->setWidget(inside);
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(14, 12, 14, 12);
    column->setSpacing(5);
    const auto label = [&](const QString& text, const char* role, QWidget* buddy = nullptr) {
        auto* l = new QLabel(text);
        l->setWordWrap(true);
        l->setMinimumWidth(1);
        set_role(l, role);
        if (buddy) l->setBuddy(buddy);
        column->addWidget(l);
        return l;
    };
    label(tr("1. Calibrate"), "title");
    label(tr("Measures bandwidth, peak rates, barriers and storage. Plans for this machine then use what was "
             "measured."),
          "note");
    seconds_ = new QSpinBox;
    seconds_->setRange(2, 600);
    seconds_->setButtonSymbols(QAbstractSpinBox::NoButtons);
    seconds_->setValue(60);
    seconds_->setSuffix(tr(" s"));
    label(tr("&Time to take"), "name", seconds_);
    column->addWidget(seconds_);
    calibrate_ = new QPushButton(tr("Cali&brate"));
    column->addWidget(calibrate_);
    profile_note_ = label({}, "note");
    use_device_ = new QPushButton(tr("Use as the &device"));
    use_device_->hide();
    column->addWidget(use_device_);
    auto* line = new QFrame;
    set_role(line, "line");
    column->addSpacing(4);
    column->addWidget(line);

    label(tr("2. Verify"), "title");
    model_ = new QComboBox;
    model_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    model_->addItem(tr("three small models"), QString());
    for (const model::Model& m : kernels::verify_models()) model_->addItem(text_of(m.id), text_of(m.id));
    label(tr("&Models"), "name", model_);
    column->addWidget(model_);
    extent_ = new QComboBox;
    extent_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    for (const Extent& e : kExtents) extent_->addItem(tr(e.name));
    label(tr("&Extent"), "name", extent_);
    column->addWidget(extent_);
    runs_ = new QSpinBox;
    runs_->setRange(1, 101);
    runs_->setButtonSymbols(QAbstractSpinBox::NoButtons);
    runs_->setValue(kernels::VerifyOptions{}.runs);
    label(tr("&Samples of every item"), "name", runs_);
    column->addWidget(runs_);
    verify_ = new QPushButton(tr("&Verify"));
    set_role(verify_, "primary");
    column->addWidget(verify_);
    progress_ = new QProgressBar;
    progress_->setRange(0, 1000);
    progress_->setAccessibleName(tr("Measurement"));
    progress_->hide();
    column->addSpacing(4);
    column->addWidget(progress_);
    progress_note_ = label({}, "note");
    cancel_ = new QPushButton(tr("&Cancel"));
    cancel_->hide();
    column->addWidget(cancel_);
    column->addStretch(1);

    connect(calibrate_, &QPushButton::clicked, this, [this] {
        kernels::CalibrateOptions o;
        o.seconds = seconds_->value();
        verification_.calibrate(o);
    });
    connect(verify_, &QPushButton::clicked, this, [this] { verification_.verify(options()); });
    connect(cancel_, &QPushButton::clicked, this, [this] {
        verification_.cancel();
        progress_note_->setText(tr("cancelled"));
    });
    connect(use_device_, &QPushButton::clicked, this, [this] {
        if (session().set_option(QStringLiteral("device"), QStringLiteral("host")))
            Q_EMIT show_page(QStringLiteral("explore"));
    });
    for (QComboBox* box : {model_, extent_})
        connect(box, &QComboBox::currentIndexChanged, this, [this] { Q_EMIT results_changed(); });
    connect(runs_, &QSpinBox::valueChanged, this, [this] { Q_EMIT results_changed(); });
}

QWidget* VerifyPage::side_panel() {
    return panel_;
}

kernels::VerifyOptions VerifyPage::options() const {
    kernels::VerifyOptions o;
    if (const QString m = model_->currentData().toString(); !m.isEmpty()) o.models = {m.toStdString()};
    const Extent& e = kExtents[static_cast<std::size_t>(std::max(extent_->currentIndex(), 0))];
    o.contexts = e.contexts;
    o.kv = e.kv;
    o.runs = runs_->value();
    return o;
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

void VerifyPage::show_busy(bool busy) {
    progress_->setValue(0);
    progress_->setVisible(busy);
    cancel_->setVisible(busy);
    calibrate_->setEnabled(!busy);
    verify_->setEnabled(!busy);
}

void VerifyPage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && verification_.run()) draw();
    Page::changeEvent(event);
}

// ---------------------------------------------------------------- drawing

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
                       QStringLiteral(" · ") + text_of(i.what))
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

void VerifyPage::show_table(bool on) {
    if (!verification_.run()) return;
    views_->setCurrentWidget(on ? static_cast<QWidget*>(table_view_) : bars_);
    views_->currentWidget()->setFocus();
}

// ---------------------------------------------------------------- frame

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
