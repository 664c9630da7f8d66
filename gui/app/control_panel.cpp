// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/control_panel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/plan/options.h"
#include "gui/app/choice_box.h"
#include "gui/app/context_slider.h"
#include "gui/app/elided_label.h"
#include "gui/app/side_column.h"
#include "gui/app/suggestions.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

ControlPanel::ControlPanel(Session& session, QWidget* parent)
    : QScrollArea(parent),
      session_(session),
      for_consequences_(std::make_shared<devices::Replanner>()),
      for_lists_(std::make_shared<devices::Replanner>()) {
    set_role(this, "panel");
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    build();
    connect(&session_, &Session::rejected, this, &ControlPanel::show_error);
}

ControlPanel::~ControlPanel() = default;

ControlPanel::Control& ControlPanel::add_control(const QString& key, const QString& name) {
    Control& c = controls_[key];
    c.box = new QWidget;
    auto* column = new QVBoxLayout(c.box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(1);
    auto* head = new QHBoxLayout;
    head->setSpacing(6);
    c.name = new QLabel(name);
    set_role(c.name, "name");
    c.fact = new ElidedLabel;
    set_role(c.fact, "fact");
    c.fact->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    head->addWidget(c.name);
    head->addWidget(c.fact, 1);
    column->addLayout(head);
    return c;
}

ChoiceBox* ControlPanel::add_choice(Control& control, const QString& option, QBoxLayout* row) {
    auto* box = new ChoiceBox(option);
    box->setAccessibleName(QString(control.name->text()).remove('&'));
    row->addWidget(box, 1);
    if (!control.name->buddy()) control.name->setBuddy(box);
    control.fields[option] = box;
    connect(box, &ChoiceBox::opening, this, [this, box] { fill_choices(box); });
    connect(box, &ChoiceBox::closed, this, [this] { lists_.cancel(); });
    connect(box, &ChoiceBox::chosen, this, [this, option](const QString& value) { set(option, value); });
    return box;
}

QLineEdit* ControlPanel::add_edit(Control& control, const QString& option, QBoxLayout* row) {
    auto* edit = new QLineEdit;
    edit->setMinimumWidth(40);  // its own hint is the widest glyph of the font, which may be very wide
    edit->setAccessibleName(QString(control.name->text()).remove('&'));
    if (const plan::Option* o = plan::find_option(option.toStdString())) edit->setToolTip(text_of(o->help));
    row->addWidget(edit, 1);
    if (!control.name->buddy()) control.name->setBuddy(edit);
    control.fields[option] = edit;
    connect(edit, &QLineEdit::editingFinished, this, [this, edit, option] {
        if (!refreshing_ && edit->isModified()) {
            edit->setModified(false);
            set(option, edit->text());
        }
    });
    return edit;
}

void ControlPanel::build() {
    auto* inner = new QWidget;
    set_role(inner, "panel");
    auto* column = new QVBoxLayout(inner);
    column->setContentsMargins(14, 8, 12, 8);
    column->setSpacing(5);

    const auto finish = [&](const QString& key, bool with_note) {
        Control& c = controls_[key];
        auto* box = static_cast<QVBoxLayout*>(c.box->layout());
        if (with_note) {
            c.note = new QLabel;
            set_role(c.note, "note");
            c.note->setWordWrap(true);
            c.note->setTextFormat(Qt::PlainText);
            box->addWidget(c.note);
        }
        c.error = new QLabel;
        set_role(c.error, "note");
        c.error->setProperty("tone", "bad");
        c.error->setWordWrap(true);
        c.error->setTextFormat(Qt::PlainText);
        c.error->hide();
        box->addWidget(c.error);
        for (const auto& [option, field] : c.fields) control_of_[option] = key;
        column->addWidget(c.box);
    };
    const auto row_of = [&](const QString& key) {
        auto* row = new QHBoxLayout;
        row->setSpacing(5);
        static_cast<QVBoxLayout*>(controls_[key].box->layout())->addLayout(row);
        return row;
    };
    const auto simple = [&](const QString& key, const QString& name) {
        Control& c = add_control(key, name);
        add_choice(c, key, row_of(key));
        finish(key, true);
    };

    simple("model", tr("&Model"));
    simple("device", tr("&Device"));
    simple("quant", tr("&Recipe"));

    Control& kv = add_control("kv", tr("&KV cache K / V"));
    auto* kv_row = row_of("kv");
    add_choice(kv, "kv-k", kv_row)->setAccessibleName(tr("KV type of the keys"));
    add_choice(kv, "kv-v", kv_row)->setAccessibleName(tr("KV type of the values"));
    finish("kv", true);
    control_of_["kv"] = "kv";

    Control& context = add_control("context", tr("&Context"));
    // The fact of the context is its number, which can be typed.
    auto* head = static_cast<QHBoxLayout*>(context.box->layout()->itemAt(0)->layout());
    context.fact->hide();
    QLineEdit* number = add_edit(context, "context", head);
    number->setFixedWidth(86);
    number->setAlignment(Qt::AlignRight);
    head->setStretch(0, 1);
    head->setStretch(2, 0);
    slider_ = new ContextSlider;
    slider_->setAccessibleName(tr("Context"));
    context.name->setBuddy(slider_);
    static_cast<QVBoxLayout*>(context.box->layout())->addWidget(slider_);
    finish("context", true);
    connect(slider_, &QSlider::valueChanged, this, [this](int position) {
        if (!refreshing_) set("context", QString::number(ContextSlider::context_at(position)), true);
    });
    connect(slider_, &QSlider::sliderReleased, &session_, &Session::finish_step);

    // Three short numbers side by side.
    auto* three = new QWidget;
    auto* three_row = new QHBoxLayout(three);
    three_row->setContentsMargins(0, 0, 0, 0);
    three_row->setSpacing(6);
    const std::pair<const char*, QString> numbers[] = {
        {"sequences", tr("&Sequences")}, {"prompt", tr("&Prompt")}, {"generate", tr("&Answer")}};
    for (const auto& [option, name] : numbers) {
        Control& c = add_control(option, name);
        c.fact->hide();
        add_edit(c, option, row_of(option));
        finish(option, false);
        column->removeWidget(c.box);
        three_row->addWidget(c.box, 1, Qt::AlignTop);
    }
    auto* three_note = new QLabel;
    set_role(three_note, "note");
    three_note->setWordWrap(true);
    controls_["sequences"].note = three_note;
    auto* group = new QVBoxLayout;
    group->setSpacing(1);
    group->addWidget(three);
    group->addWidget(three_note);
    column->addLayout(group);

    simple("runtime", tr("R&untime"));
    simple("flash-attention", tr("&Flash attention"));
    simple("draft", tr("Draft m&odel"));
    simple("offload", tr("Off&load"));

    suggestions_ = new Suggestions(session_, this);
    suggestions_->installEventFilter(this);

    column->addWidget(side_line());
    build_more(column);
    column->addStretch(1);
    setWidget(inner);
}

void ControlPanel::build_more(QVBoxLayout* column) {
    more_button_ = new QToolButton;
    more_button_->setText(tr("All other options"));
    more_button_->setCheckable(true);
    more_button_->setArrowType(Qt::RightArrow);
    more_button_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    more_button_->setAutoRaise(true);
    column->addWidget(more_button_);
    more_ = new QWidget;
    auto* rows = new QVBoxLayout(more_);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(7);
    for (const plan::Option& o : plan::options()) {
        const QString option = text_of(o.name);
        if (control_of_.contains(option)) continue;
        // Named as on the command line, which is where they are explained.
        Control& c = add_control(option, option);
        auto* row = new QHBoxLayout;
        static_cast<QVBoxLayout*>(c.box->layout())->addLayout(row);
        const QString kind = text_of(o.value);
        const bool words = kind.contains('|') && !kind.contains("FILE") && !kind.contains("N|");
        if (words)
            add_choice(c, option, row);
        else
            add_edit(c, option, row)->setPlaceholderText(kind);
        c.fact->hide();
        c.note = new QLabel(text_of(o.help));
        set_role(c.note, "note");
        c.note->setWordWrap(true);
        c.note->setTextFormat(Qt::PlainText);
        c.error = new QLabel;
        set_role(c.error, "note");
        c.error->setProperty("tone", "bad");
        c.error->setWordWrap(true);
        c.error->hide();
        c.box->layout()->addWidget(c.note);
        c.box->layout()->addWidget(c.error);
        control_of_[option] = option;
        rows->addWidget(c.box);
    }
    more_->hide();
    column->addWidget(more_);
    connect(more_button_, &QToolButton::toggled, this, &ControlPanel::show_more);
}

void ControlPanel::show_more(bool on) {
    more_button_->setChecked(on);
    more_button_->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
    more_->setVisible(on);
}

ChoiceBox* ControlPanel::choice(const QString& option) const {
    const auto key = control_of_.find(option);
    if (key == control_of_.end()) return nullptr;
    const auto& fields = controls_.at(key->second).fields;
    const auto field = fields.find(option);
    return field == fields.end() ? nullptr : qobject_cast<ChoiceBox*>(field->second);
}

QLineEdit* ControlPanel::edit(const QString& option) const {
    const auto key = control_of_.find(option);
    if (key == control_of_.end()) return nullptr;
    const auto& fields = controls_.at(key->second).fields;
    const auto field = fields.find(option);
    return field == fields.end() ? nullptr : qobject_cast<QLineEdit*>(field->second);
}

void ControlPanel::set(const QString& option, const QString& text, bool continues) {
    show_error(option, {});
    QString typed = text;
    if (const plan::Option* o = plan::find_option(option.toStdString()); o && o->repeatable) {
        QStringList values;
        for (const QString& value : typed.split(';', Qt::SkipEmptyParts)) values << value.trimmed();
        typed = values.join('\n');
    } else if (option == "context") {
        typed.remove(QChar(0x202F)).remove(' ');  // as it is shown
    }
    session_.set_option(option, typed, continues);
}

void ControlPanel::show_error(const QString& option, const QString& message) {
    const auto key = control_of_.find(option);
    if (key == control_of_.end()) return;
    Control& c = controls_[key->second];
    c.error->setText(message);
    c.error->setVisible(!message.isEmpty());
    for (const auto& [name, field] : c.fields) {
        if (name != option && option != "kv") continue;
        const bool bad = !message.isEmpty();
        if (field->property("invalid").toBool() == bad) continue;
        field->setProperty("invalid", bad);
        restyle(field);
    }
}

void ControlPanel::fill_choices(ChoiceBox* box) {
    auto rows = choices_of(box->option(), session_.deployment(), session_.planned(), session_.recent_files());
    box->choices().set_rows(rows);
    lists_.submit(
        [rows = std::move(rows), option = box->option(), deployment = session_.deployment(),
         now = session_.shared_plan(), planner = for_lists_, box](const JobControl& control) mutable {
            // The rows around the current one first: they are what the list shows when it opens.
            std::vector<int> order(rows.size());
            int current = 0;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                order[i] = static_cast<int>(i);
                if (rows[i].current) current = static_cast<int>(i);
            }
            std::stable_sort(order.begin(), order.end(), [current](int a, int b) {
                return std::abs(a - current) < std::abs(b - current);
            });
            for (const int i : order) {
                if (control.cancelled()) break;
                Choice& c = rows[static_cast<std::size_t>(i)];
                plan_choice(c, option, deployment, *now, *planner);
                control.post([box, i, c] { box->choices().set_row(i, c); });
            }
            return true;
        },
        [](bool) {});
}

void ControlPanel::place_suggestions() {
    const int inside = width() - 1;  // the panel's own border
    const int height = suggestions_->height_for(inside);
    if (viewportMargins().bottom() != height) setViewportMargins(0, 0, 0, height);
    suggestions_->setGeometry(0, this->height() - height, inside, height);
    suggestions_->raise();
}

void ControlPanel::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    place_suggestions();
}

bool ControlPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == suggestions_ && event->type() == QEvent::LayoutRequest) place_suggestions();
    return QScrollArea::eventFilter(watched, event);
}

}  // namespace memwall::gui
