// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/control_panel.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/model/model.h"
#include "core/plan/curves.h"
#include "core/plan/options.h"
#include "core/quant/recipe.h"
#include "core/view/quantity_text.h"
#include "gui/app/choice_box.h"
#include "gui/app/elided_label.h"
#include "gui/charts/axis.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr int kOctave = 16;  // slider steps between powers of two
constexpr int kLowest = 8;   // 2^8 = 256 tokens

std::int64_t context_at(int position) {
    const double tokens = std::exp2(kLowest + static_cast<double>(position) / kOctave);
    if (position % kOctave == 0) return std::llround(tokens);
    const double grain = tokens >= 8192 ? 256 : tokens >= 1024 ? 64 : 16;
    return std::llround(tokens / grain) * static_cast<std::int64_t>(grain);
}

int position_of(std::int64_t context) {
    return static_cast<int>(std::lround(
        (std::log2(static_cast<double>(std::max<std::int64_t>(context, 256))) - kLowest) * kOctave));
}

/// A slider whose arrows go from one power of two to the next (Shift: one fine step) and that a dragging
/// pointer catches near a stop.
class ContextSlider : public QSlider {
  public:
    ContextSlider() : QSlider(Qt::Horizontal) {
        setSingleStep(kOctave);
        setPageStep(kOctave);
    }

  protected:
    void keyPressEvent(QKeyEvent* event) override {
        const int direction = event->key() == Qt::Key_Right || event->key() == Qt::Key_Up    ? 1
                              : event->key() == Qt::Key_Left || event->key() == Qt::Key_Down ? -1
                                                                                             : 0;
        if (direction == 0) {
            QSlider::keyPressEvent(event);
            return;
        }
        const int now = value();
        if (event->modifiers() & Qt::ShiftModifier) {
            setValue(now + direction);
            return;
        }
        const int floor = now / kOctave * kOctave;
        setValue(direction > 0 ? floor + kOctave : (floor == now ? now - kOctave : floor));
    }
    void sliderChange(SliderChange change) override {
        if (change == SliderValueChange && isSliderDown()) {
            const int stop = static_cast<int>(std::lround(static_cast<double>(value()) / kOctave)) * kOctave;
            if (value() != stop && std::abs(value() - stop) <= 2 && stop <= maximum()) {
                setValue(stop);
                return;
            }
        }
        QSlider::sliderChange(change);
    }
};

QWidget* line() {
    auto* l = new QFrame;
    set_role(l, "line");
    l->setFixedHeight(1);
    return l;
}

}  // namespace

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
    slider_->setMinimum(0);
    context.name->setBuddy(slider_);
    static_cast<QVBoxLayout*>(context.box->layout())->addWidget(slider_);
    finish("context", true);
    connect(slider_, &QSlider::valueChanged, this, [this](int position) {
        if (!refreshing_) set("context", QString::number(context_at(position)), true);
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

    suggestions_ = new QFrame(this);
    set_role(suggestions_, "pinned");
    suggestion_rows_ = new QVBoxLayout(suggestions_);
    suggestion_rows_->setContentsMargins(14, 7, 12, 8);
    suggestion_rows_->setSpacing(1);
    suggestions_->installEventFilter(this);

    column->addWidget(line());
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

void ControlPanel::set_note(const QString& key, const QString& text, bool helps) {
    QLabel* note = controls_[key].note;
    if (!note) return;
    if (note->text() != text) note->setText(text);
    const QString tone = helps ? QStringLiteral("good") : QString();
    if (note->property("tone").toString() != tone) {
        note->setProperty("tone", tone);
        restyle(note);
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

void ControlPanel::refresh_facts() {
    const devices::Planned& p = session_.planned();
    const plan::Deployment& d = session_.deployment();
    const model::Model& m = p.prepared.model;
    const auto fact = [&](const char* key, const QString& text, const QString& quantity = {},
                          double raw = 0) {
        ElidedLabel* label = controls_[key].fact;
        label->set_text(text);
        label->setProperty("quantity", quantity);
        label->setProperty("raw", raw);
    };
    // Model.
    choice("model")->set_value(QFileInfo(text_of(d.model)).fileName());
    fact("model", shown(view::parameters_text(model::text_parameters(m))), "model.parameters",
         static_cast<double>(model::text_parameters(m)));
    QStringList words{tr("%n layer(s)", nullptr, static_cast<int>(m.layers.size()))};
    for (const model::Layer& layer : m.layers)
        if (layer.attention) {
            words << tr("%n KV head(s)", nullptr, static_cast<int>(layer.attention->kv_heads));
            break;
        }
    if (m.trained_context > 0)
        words << tr("trained to %1").arg(token_text(static_cast<double>(m.trained_context)));
    set_note("model", words.join(QStringLiteral(" · ")));
    // Device.
    choice("device")->set_value(text_of(d.device));
    const device::Device& device = p.target.device;
    const device::Pool& pool = device.pools[p.target.pool];
    fact("device", pool.bandwidth.value > 0 ? shown(rate_text(pool.bandwidth)) : tr("bandwidth unknown"),
         QStringLiteral("device.pools.%1.bandwidth_bytes_per_second").arg(p.target.pool),
         pool.bandwidth.value);
    QString memory = pool.capacity.value > 0
                         ? tr("%1 %2, %3 per process")
                               .arg(shown(bytes_text(pool.capacity)), text_of(pool.name).toUpper(),
                                    shown(bytes_text(pool.usable)))
                         : tr("size of its memory unknown");
    memory += QStringLiteral(" · ") + text_of(device::kind_name(p.target.processor)).toUpper();
    set_note("device", memory);
    // Recipe.
    choice("quant")->set_value(p.prepared.recipe_from_file
                                   ? tr("%1 (as stored)").arg(text_of(p.prepared.recipe))
                                   : text_of(p.prepared.recipe));
    const double bits = quant::bits_per_weight(m, p.prepared.formats);
    fact("quant", tr("%1 bits a weight").arg(shown(view::number_text(bits))), "model.bits_per_weight", bits);
    // Cache.
    choice("kv-k")->set_value(text_of(p.knobs.kv_k.name));
    choice("kv-v")->set_value(text_of(p.knobs.kv_v.name));
    const Bytes token = plan::kv_bytes_per_token(p.prepared, p.knobs);
    fact("kv", token.value > 0 ? tr("%1 a token").arg(shown(bytes_text(token))) : QString());
    for (const char* key : {"kv-k", "kv-v"}) choice(key)->setEnabled(!p.prepared.kv_groups.empty());
    // Context.
    const std::int64_t trained = m.trained_context > 0 ? m.trained_context : 1 << 20;
    const std::int64_t last = std::max(trained, p.knobs.context);
    slider_->setMaximum(
        static_cast<int>(std::ceil((std::log2(static_cast<double>(last)) - kLowest) * kOctave)));
    if (context_at(slider_->value()) != p.knobs.context) slider_->setValue(position_of(p.knobs.context));
    const std::int64_t most = p.advice.max_context_tokens;
    set_note("context", p.plan.verdict == plan::Verdict::unsupported ? QString()
                        : most <= 0                                  ? tr("does not fit at any context")
                                    : tr("largest that fits: %1").arg(shown_count(most)));
    if (controls_["context"].note) {
        controls_["context"].note->setProperty("quantity", most > 0 ? "max_context_tokens" : "");
        controls_["context"].note->setProperty("raw", static_cast<double>(most));
    }
    // Placement.
    choice("runtime")->set_value(text_of(d.runtime));
    fact("runtime", text_of(p.prepared.runtime.release));
    choice("flash-attention")
        ->set_value(d.flash_attention == plan::Switch::automatic
                        ? (p.knobs.flash_attention ? tr("auto (on)") : tr("auto (off)"))
                    : d.flash_attention == plan::Switch::on ? tr("on")
                                                            : tr("off"));
    choice("draft")->set_value(d.draft.empty() ? tr("none") : text_of(d.draft));
    fact("draft",
         p.plan.speed.speculative
             ? tr("%1 tokens a round").arg(shown(view::number_text(p.plan.speed.tokens_per_round)))
             : QString(),
         p.plan.speed.speculative ? "speed.speculation.tokens_per_round" : QString(),
         p.plan.speed.tokens_per_round);
    choice("offload")->set_value(text_of(d.offload));
    choice("offload")->setEnabled(p.target.discrete);
    fact("offload", p.target.discrete
                        ? tr("%n layer(s) on the card", nullptr, static_cast<int>(p.plan.gpu_layers))
                        : QString());
}

void ControlPanel::refresh() {
    refreshing_ = true;
    refresh_facts();
    const devices::Planned& p = session_.planned();
    for (const auto& [key, control] : controls_)
        for (const auto& [option, field] : control.fields)
            if (auto* edit = qobject_cast<QLineEdit*>(field)) {
                if (edit->hasFocus() && edit->isModified()) continue;
                QString text =
                    session_.option(option).replace('\n', QStringLiteral("; "));  // repeatable ones
                if (option == "context") text = shown_count(p.knobs.context);
                if (option == "sequences") text = QString::number(p.knobs.sequences);
                if (option == "prompt") text = QString::number(p.knobs.prompt);
                if (option == "generate") text = QString::number(p.knobs.generate);
                if (edit->text() != text) edit->setText(text);
                edit->setModified(false);
            } else if (auto* box = qobject_cast<ChoiceBox*>(field);
                       box && key == option && more_->isAncestorOf(box)) {
                const QString text = session_.option(option);
                box->set_value(text.isEmpty() ? tr("default") : text);
            }
    // What was refused is gone once something else is planned.
    for (const auto& [option, key] : control_of_)
        if (controls_[key].error && controls_[key].error->isVisibleTo(this)) show_error(option, {});
    refresh_suggestions();
    refreshing_ = false;
    ask_consequences();
}

void ControlPanel::ask_consequences() {
    set_note("offload",
             session_.planned().target.discrete ? QString() : tr("this device has one memory pool"));
    consequences_.submit(
        [deployment = session_.deployment(), now = session_.shared_plan(),
         planner = for_consequences_](const JobControl& control) {
            return consequences(deployment, *now, *planner, [&] { return control.cancelled(); });
        },
        [this](const QMap<QString, Consequence>& lines) {
            for (auto it = lines.begin(); it != lines.end(); ++it)
                set_note(it.key(), it.value().text, it.value().helps);
        });
}

void ControlPanel::place_suggestions() {
    const int inside = width() - 1;  // the panel's own border
    const QLayout& rows = *suggestions_->layout();
    const int height =
        rows.hasHeightForWidth() ? rows.totalHeightForWidth(inside) : rows.totalSizeHint().height();
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

void ControlPanel::refresh_suggestions() {
    while (QLayoutItem* item = suggestion_rows_->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    const auto& advice = session_.planned().advice;
    auto* title = new QLabel(tr("Changes that would help"));
    set_role(title, "name");
    suggestion_rows_->addWidget(title);
    const auto note = [&](const QString& text) {
        auto* label = new QLabel(text);
        set_role(label, "note");
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        suggestion_rows_->addWidget(label);
    };
    if (advice.suggestions.empty()) {
        note(session_.planned().plan.verdict == plan::Verdict::fits ? tr("It fits as it is.")
                                                                    : tr("No single change makes it fit."));
        return;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(advice.suggestions.size(), 3); ++i) {
        const plan::Suggestion s = advice.suggestions[i];
        auto* button = new QPushButton(text_of(s.option).remove(QStringLiteral("--")) + ' ' + text_of(s.to));
        set_role(button, "link");
        button->setCursor(Qt::PointingHandCursor);
        button->setObjectName(QStringLiteral("suggestion_%1").arg(i));
        connect(button, &QPushButton::clicked, this, [this, s] { session_.apply(s); });
        suggestion_rows_->addWidget(button, 0, Qt::AlignLeft);
        note(shown(s.effect));
    }
}

}  // namespace memwall::gui
