// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/result_strip.h"

#include <QHBoxLayout>
#include <QMouseEvent>
#include <QVBoxLayout>

#include "core/base/size_text.h"
#include "core/view/quality_view.h"
#include "core/view/quantity_text.h"
#include "gui/app/elided_label.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

template <class T>
void note_range(ResultCell& cell, const Interval<T>& i, const QString& path, const QString& words) {
    const auto number = [](const auto& x) {
        if constexpr (requires { x.as_double(); })
            return x.as_double();
        else
            return x.value;
    };
    const QString range = shown_range(text_of(view::range_text(i)));
    cell.note = range.isEmpty() ? words : words.isEmpty() ? range : range + QStringLiteral(" · ") + words;
    if (range.isEmpty()) return;
    cell.note_numbers[path + ".low"] = number(i.low);
    cell.note_numbers[path + ".high"] = number(i.high);
}

QString bound_words(std::string_view bound) {
    const std::pair<std::string_view, QString> words[] = {
        {"bandwidth", ResultStrip::tr("memory bound")},
        {"compute", ResultStrip::tr("compute bound")},
        {"dequantization", ResultStrip::tr("unpacking bound")},
        {"overhead", ResultStrip::tr("overhead bound")},
        {"storage", ResultStrip::tr("storage bound")},
        {"host", ResultStrip::tr("bound by the host")}};
    for (const auto& [name, text] : words)
        if (name == bound) return text;
    return text_of(bound);
}

ResultCell verdict_cell(const devices::Planned& p) {
    ResultCell c;
    c.caption = ResultStrip::tr("Verdict");
    c.ledger_item = "budget";
    const auto& head = p.plan.memory.headroom;
    const QString path = "memory.headroom_bytes";
    switch (p.plan.verdict) {
        case plan::Verdict::fits:
            c.value = ResultStrip::tr("Fits");
            c.tone = "good";
            break;
        case plan::Verdict::does_not_fit:
            c.value = ResultStrip::tr("Does not fit");
            c.tone = "bad";
            break;
        case plan::Verdict::too_close_to_call:
            c.value = ResultStrip::tr("Too close to call");
            c.tone = "warning";
            break;
        case plan::Verdict::unsupported:
            c.value = ResultStrip::tr("Unsupported");
            c.tone = "bad";
            c.note = text_of(p.advice.reason);
            return c;
    }
    if (!p.plan.memory.pools[p.plan.memory.deciding_pool].limited) {
        c.note = text_of(p.advice.reason);
        return c;
    }
    if (p.plan.verdict == plan::Verdict::does_not_fit) {
        const Interval<Bytes> over{-head.high, -head.central, -head.low, head.level, head.basis};
        c.note = ResultStrip::tr("%1 too much")
                     .arg(head.is_exact() ? shown(view::text(over))
                                          : shown_range(text_of(view::range_text(over))));
        c.note_numbers["-" + path + ".low"] = -head.low.as_double();
        c.note_numbers["-" + path + ".high"] = -head.high.as_double();
        return c;
    }
    c.note =
        ResultStrip::tr("%1 to spare")
            .arg(head.is_exact() ? shown(view::text(head)) : shown_range(text_of(view::range_text(head))));
    c.note_numbers[path + ".low"] = head.low.as_double();
    c.note_numbers[path + ".high"] = head.high.as_double();
    return c;
}

ResultCell decode_cell(const devices::Planned& p) {
    ResultCell c;
    c.caption =
        p.plan.speed.speculative ? ResultStrip::tr("Decode with the draft") : ResultStrip::tr("Decode");
    c.ledger_item = "decode";
    const plan::Speed& s = p.plan.speed;
    if (!s.decode_known) {
        c.value = QStringLiteral("–");
        c.note = ResultStrip::tr("no bandwidth known");
        return c;
    }
    c.value = ResultStrip::tr("%1 tok/s").arg(shown(view::text(s.decode)));
    c.quantity = "speed.decode_tokens_per_second.central";
    c.raw = s.decode.central.value;
    note_range(c, s.decode, "speed.decode_tokens_per_second", bound_words(s.bound));
    return c;
}

ResultCell first_token_cell(const devices::Planned& p) {
    ResultCell c;
    c.caption = ResultStrip::tr("First token, %1").arg(shown_count(p.knobs.prompt));
    c.ledger_item = "prefill";
    const plan::Speed& s = p.plan.speed;
    if (!s.prefill_known) {
        c.value = QStringLiteral("–");
        c.note = ResultStrip::tr("no compute peak known");
        return c;
    }
    c.value = shown(view::text(s.first_token));
    c.quantity = "speed.time_to_first_token_seconds.central";
    c.raw = s.first_token.central.value;
    note_range(c, s.first_token, "speed.time_to_first_token_seconds", {});
    return c;
}

QString status_words(quality::Status status) {
    switch (status) {
        case quality::Status::measured:
            return ResultStrip::tr("measured");
        case quality::Status::interpolated:
            return ResultStrip::tr("interpolated");
        case quality::Status::estimated:
            return ResultStrip::tr("estimated");
        case quality::Status::bounded:
            return ResultStrip::tr("only a bound");
        case quality::Status::refused:
            break;
    }
    return ResultStrip::tr("not estimated");
}

ResultCell quality_cell(const devices::Planned& p) {
    ResultCell c;
    c.caption = ResultStrip::tr("Tokens kept of F16");
    c.ledger_item = "quality";
    const quality::Loss& l = p.plan.loss;
    if (!l.known()) {
        c.value = QStringLiteral("–");
        c.note = status_words(l.status) + QStringLiteral(": ") + text_of(view::quality_block(l).note);
        return c;
    }
    const quality::Band& b = l.top1_disagreement;
    const QString path = "quality.top1_disagreement";
    c.value = shown(view::agreement_text(b.central));
    c.quantity = path + ".central";
    c.raw = b.central;
    c.note = shown_range(text_of(view::agreement_text(b.high) + " - " + view::agreement_text(b.low))) +
             QStringLiteral(" · ") + status_words(l.status);
    c.note_numbers[path + ".low"] = b.low;
    c.note_numbers[path + ".high"] = b.high;
    return c;
}

ResultCell context_cell(const devices::Planned& p) {
    ResultCell c;
    c.caption = ResultStrip::tr("Largest context");
    c.ledger_item = "budget";
    const std::int64_t most = p.advice.max_context_tokens;
    c.value = most > 0 ? shown_count(most) : ResultStrip::tr("none");
    c.quantity = "max_context_tokens";
    c.raw = static_cast<double>(most);
    if (most <= 0)
        c.note = ResultStrip::tr("does not fit at any context");
    else if (p.advice.max_context_is_trained)
        c.note = ResultStrip::tr("tokens, all it was trained for");
    else if (p.prepared.model.trained_context > 0) {
        c.note = ResultStrip::tr("tokens of %1 trained").arg(shown_count(p.prepared.model.trained_context));
        c.note_numbers["model.trained_context"] = static_cast<double>(p.prepared.model.trained_context);
    } else
        c.note = ResultStrip::tr("tokens");
    return c;
}

}  // namespace

std::vector<ResultCell> plan_cells(const Session& session) {
    const devices::Planned& p = session.planned();
    return {verdict_cell(p), decode_cell(p), first_token_cell(p), quality_cell(p), context_cell(p)};
}

class ResultStrip::Cell : public QFrame {
  public:
    explicit Cell(ResultStrip* strip) : QFrame(strip), strip_(strip) {
        set_role(this, "card");
        set_role(&caption_, "caption");
        set_role(&value_, "result");
        set_role(&note_, "note");
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(12, 6, 10, 6);
        column->setSpacing(0);
        for (ElidedLabel* label : {&caption_, &value_, &note_}) column->addWidget(label);
        setFocusPolicy(Qt::NoFocus);
    }
    void show_cell(const ResultCell& cell) {
        cell_ = cell;
        caption_.set_text(cell.caption);
        value_.set_text(cell.value);
        note_.set_text(cell.note);
        value_.setProperty("quantity", cell.quantity);
        value_.setProperty("raw", cell.raw);
        note_.setProperty("numbers", cell.note_numbers);
        if (value_.property("tone").toString() != cell.tone) {
            value_.setProperty("tone", cell.tone);
            restyle(&value_);
        }
        setAccessibleName(cell.caption);
        setAccessibleDescription(cell.value + ", " + cell.note);
        setCursor(cell.ledger_item.isEmpty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
    }

  protected:
    void mouseReleaseEvent(QMouseEvent* event) override {
        if (rect().contains(event->pos()) && !cell_.ledger_item.isEmpty())
            Q_EMIT strip_->clicked(cell_.ledger_item);
    }

  private:
    ResultStrip* strip_;
    ElidedLabel caption_, value_, note_;
    ResultCell cell_;
};

ResultStrip::ResultStrip(QWidget* parent) : QWidget(parent), row_(new QHBoxLayout(this)) {
    row_->setContentsMargins(0, 0, 0, 0);
    row_->setSpacing(8);
}

void ResultStrip::set_cells(const std::vector<ResultCell>& cells) {
    while (cells_.size() < cells.size()) {
        cells_.push_back(new Cell(this));
        row_->addWidget(cells_.back());
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        cells_[i]->setVisible(i < cells.size());
        if (i >= cells.size()) continue;
        row_->setStretch(static_cast<int>(i), cells[i].stretch * 10);
        cells_[i]->show_cell(cells[i]);
    }
}

}  // namespace memwall::gui
