// SPDX-License-Identifier: GPL-3.0-only
// The panel of the page: how long to calibrate, what to verify, and how far it has come.
#include <QComboBox>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>

#include "gui/app/side_column.h"
#include "gui/app/verify_page.h"
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

}  // namespace

void VerifyPage::build_panel() {
    panel_ = new QScrollArea;
    QVBoxLayout* column = make_side_column(*panel_);
    const auto label = [&](const QString& text, const char* role, QWidget* buddy = nullptr) {
        return add_side_text(*column, text, role, buddy);
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
    column->addSpacing(4);
    column->addWidget(side_line());

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

kernels::VerifyOptions VerifyPage::options() const {
    kernels::VerifyOptions o;
    if (const QString m = model_->currentData().toString(); !m.isEmpty()) o.models = {m.toStdString()};
    const Extent& e = kExtents[static_cast<std::size_t>(std::max(extent_->currentIndex(), 0))];
    o.contexts = e.contexts;
    o.kv = e.kv;
    o.runs = runs_->value();
    return o;
}

void VerifyPage::show_busy(bool busy) {
    progress_->setValue(0);
    progress_->setVisible(busy);
    cancel_->setVisible(busy);
    calibrate_->setEnabled(!busy);
    verify_->setEnabled(!busy);
}

}  // namespace memwall::gui
