// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/memory_bar.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/view/quantity_text.h"
#include "gui/model/numbers.h"

namespace memwall::gui {
namespace {

QString bytes_words(double bytes) {
    return shown(bytes_text(Bytes(std::llround(bytes))));
}

/// Diagonal lines cut to `box`, drawn rather than a brush: brush patterns stay device pixels when scaled, and
/// an SVG ignores clipping.
void hatch(QPainter& p, const QRectF& box, const QColor& color, double step = 5) {
    p.setPen(QPen(color, 1));
    for (double x = box.left() - box.height(); x < box.right(); x += step) {
        // From (x, bottom) up to (x + height, top).
        double x1 = x, y1 = box.bottom(), x2 = x + box.height(), y2 = box.top();
        if (x1 < box.left()) y1 -= box.left() - x1, x1 = box.left();
        if (x2 > box.right()) y2 += x2 - box.right(), x2 = box.right();
        if (x1 < x2) p.drawLine(QPointF(x1, y1), QPointF(x2, y2));
    }
}

/// A round step that gives at most `most` ticks.
double tick_step(double range, int most) {
    const double raw = range / most;
    const double power = std::pow(2, std::floor(std::log2(raw)));
    return raw <= power ? power : 2 * power;
}

}  // namespace

QString part_words(plan::Part part) {
    switch (part) {
        case plan::Part::weights:
            return MemoryBar::tr("Weights");
        case plan::Part::kv:
            return MemoryBar::tr("KV cache");
        case plan::Part::state:
            return MemoryBar::tr("State");
        case plan::Part::compute:
            return MemoryBar::tr("Buffers");
        case plan::Part::draft:
            return MemoryBar::tr("Draft");
        case plan::Part::overhead:
            return MemoryBar::tr("Overhead");
    }
    return {};
}

QString ledger_item_of(plan::Part part) {
    constexpr const char* kItems[] = {"weights",        "kv_cache", "recurrent_state",
                                      "compute_buffer", "draft",    "overhead"};
    return QString::fromLatin1(kItems[static_cast<int>(part)]);
}

MemoryBar::MemoryBar(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Memory by class"));
}

QSize MemoryBar::sizeHint() const {
    const int line = fontMetrics().height();
    const int bars = std::max<int>(1, static_cast<int>(bars_.size()));
    return {600, bars * (line * 2 + (bars > 1 ? 24 : 34) + 6) + line + 8};
}

QSize MemoryBar::minimumSizeHint() const {
    return {300, sizeHint().height()};
}

void MemoryBar::set_plan(const plan::Plan& plan) {
    const std::size_t before = bars_.size();
    bars_.clear();
    QVariantMap numbers;
    QString words;
    for (std::size_t i = 0; i < plan.memory.pool_count; ++i) {
        const plan::PoolUse& pool = plan.memory.pools[i];
        if (i > 0 && pool.used.high.value == 0) continue;
        Bar bar;
        bar.name = text_of(pool.name);
        bar.parts = plan::parts_needed(pool);
        bar.low = pool.needed.low.as_double();
        bar.central = pool.needed.central.as_double();
        bar.high = pool.needed.high.as_double();
        bar.budget = pool.budget.as_double();
        bar.capacity = pool.capacity.as_double();
        bar.limited = pool.limited;
        const QString path = QStringLiteral("memory.pools.%1.").arg(i);
        numbers[path + "needed_bytes.central"] = bar.central;
        numbers[path + "needed_bytes.low"] = bar.low;
        numbers[path + "needed_bytes.high"] = bar.high;
        if (bar.limited) numbers[path + "budget_bytes"] = bar.budget;
        numbers[path + "capacity_bytes"] = bar.capacity;
        // Each part is a sum of items; where file pages are dropped once copied, the weights are shown once.
        for (std::size_t part = 0; part < plan::kParts; ++part) {
            if (bar.parts[part] <= 0) continue;
            QStringList sum;
            for (std::size_t n = 0; n < plan::kItems; ++n)
                if (plan::part_of(static_cast<plan::Item>(n)) == static_cast<plan::Part>(part) &&
                    pool.items[n].high.value > 0)
                    sum << path + "items." + text_of(plan::item_name(static_cast<plan::Item>(n))) +
                               "_bytes.central";
            if (part == 0 && pool.used.central > pool.needed.central)
                sum << path + "needed_bytes.central"
                    << "-" + path + "used_bytes.central";
            numbers[sum.join('+').replace("+-", "-")] = bar.parts[part];
            words += part_words(static_cast<plan::Part>(part)) + ' ' + bytes_words(bar.parts[part]) + ", ";
        }
        bars_.push_back(bar);
    }
    setProperty("numbers", numbers);
    setAccessibleDescription(words +
                             tr("budget %1").arg(bytes_words(bars_.empty() ? 0 : bars_.front().budget)));
    if (bars_.size() != before) updateGeometry();
    update();
}

void MemoryBar::select(const QString& path) {
    if (bars_.empty()) return;
    const QString item = path.startsWith(QStringLiteral("memory/")) ? path.section('/', 1, 1) : path;
    int at = 0;
    for (std::size_t part = 0; part < plan::kParts; ++part) {
        if (bars_.front().parts[part] <= 0) continue;
        for (std::size_t n = 0; n < plan::kItems; ++n)
            if (plan::part_of(static_cast<plan::Item>(n)) == static_cast<plan::Part>(part) &&
                text_of(plan::item_name(static_cast<plan::Item>(n))) == item) {
                chosen_ = at;
                setFocus(Qt::OtherFocusReason);
                update();
                return;
            }
        ++at;
    }
}

void MemoryBar::draw_bar(QPainter& p, std::size_t i, const QRectF& row) {
    Bar& b = bars_[i];
    const Theme& t = theme();
    const QFontMetricsF fm(p.font());
    const double line = fm.height();
    const double most = std::max({b.high, b.limited ? b.budget : 0, b.capacity, 1.0});
    // A plan far beyond the device would squeeze everything: the scale ends shortly after it.
    const double scale = row.width() / (most * (b.high > b.capacity ? 1.03 : 1.0));
    const auto x = [&](double bytes) { return row.left() + bytes * scale; };
    const double top = row.top() + line + 3, height = row.height() - 2 * line - 8;
    const QRectF ground(row.left(), top, row.width(), height);

    if (b.capacity > 0) {  // what is there at all, and what belongs to others
        if (b.limited && b.budget < b.capacity) {
            const QRectF others(x(b.budget), top, x(b.capacity) - x(b.budget), height);
            p.fillRect(others, t.other_apps);
            QColor lines = t.second;
            lines.setAlphaF(0.35F);
            hatch(p, others, lines, 6);
            const QString text = tr("system and other apps");
            const double width = fm.horizontalAdvance(text) + 10;
            if (others.width() > width + 8) {
                const QRectF plate(others.center().x() - width / 2, others.center().y() - line / 2 - 1, width,
                                   line + 2);
                p.setPen(Qt::NoPen);
                p.setBrush(t.card);
                p.drawRoundedRect(plate, 3, 3);
                p.setPen(t.second);
                p.drawText(plate, Qt::AlignCenter, text);
            }
        }
    }
    double at = 0;
    for (std::size_t part = 0; part < plan::kParts; ++part) {
        if (b.parts[part] <= 0) continue;
        const QRectF box(x(at), top, std::max(x(at + b.parts[part]) - x(at) - 1, 1.0), height);
        const QColor color = t.of(data_class(static_cast<plan::Part>(part)));
        p.fillRect(box, color);
        segments_.push_back({static_cast<plan::Part>(part), box, b.parts[part], i});
        const QString name = part_words(static_cast<plan::Part>(part));
        const QString value = bytes_words(b.parts[part]);
        QFont strong = p.font();
        strong.setWeight(QFont::DemiBold);
        const QFontMetricsF sfm(strong);
        for (const QString& text : {name + QStringLiteral("  ") + value, value, name})
            if (sfm.horizontalAdvance(text) + 14 < box.width()) {
                p.save();
                p.setFont(strong);
                p.setPen(Theme::text_on(color));
                p.drawText(box.adjusted(7, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft, text);
                p.restore();
                break;
            }
        at += b.parts[part];
    }
    if (b.high > b.low) {
        const QRectF uncertain(x(b.low), top, x(b.high) - x(b.low), height);
        if (b.high > b.central) {
            QColor pale = t.text;
            pale.setAlphaF(0.08F);
            p.fillRect(QRectF(x(b.central), top, x(b.high) - x(b.central), height), pale);
        }
        hatch(p, uncertain, t.text, 4);
    }
    if (b.limited && b.budget > b.high) {  // headroom
        const QRectF room(x(b.high) + 1, top, x(b.budget) - x(b.high) - 1, height);
        p.setBrush(Qt::NoBrush);
        QPen dashed(t.second, 1, Qt::DashLine);
        p.setPen(dashed);
        p.drawRect(room.adjusted(0.5, 0.5, -0.5, -0.5));
        const QString words = tr("headroom");
        const QString amount = shown_range(text_of(view::range_text(
            Interval<Bytes>{Bytes(std::llround(b.budget - b.high)), Bytes(std::llround(b.budget - b.central)),
                            Bytes(std::llround(b.budget - b.low)), 0, ""})));
        QFont strong = p.font();
        strong.setWeight(QFont::DemiBold);
        const QFontMetricsF sfm(strong);
        for (const QString& text :
             {words + ' ' + (amount.isEmpty() ? bytes_words(b.budget - b.central) : amount), words})
            if (sfm.horizontalAdvance(text) + 8 < room.width()) {
                p.save();
                p.setFont(strong);
                p.setPen(t.good);
                p.drawText(room, Qt::AlignCenter, text);
                p.restore();
                break;
            }
    }
    // Above: what is needed and what may be used.
    QFont strong = p.font();
    strong.setWeight(QFont::DemiBold);
    const QFontMetricsF sfm(strong);
    QRectF budget_box;
    if (b.limited) {
        p.setPen(QPen(t.text, 2));
        p.drawLine(QPointF(x(b.budget), top - 5), QPointF(x(b.budget), top + height + 5));
        const QString text = tr("budget %1").arg(bytes_words(b.budget));
        const double width = sfm.horizontalAdvance(text) + 2;
        budget_box = QRectF(std::clamp(x(b.budget) - width / 2, row.left(), row.right() - width),
                            row.top() - 2, width, line);
        p.save();
        p.setFont(strong);
        p.setPen(t.text);
        p.drawText(budget_box, Qt::AlignCenter, text);
        p.restore();
    }
    const QString range = b.high > b.low ? shown_range(text_of(view::range_text(Interval<Bytes>{
                                               Bytes(std::llround(b.low)), Bytes(std::llround(b.central)),
                                               Bytes(std::llround(b.high)), 0, ""})))
                                         : bytes_words(b.central);
    QString text = tr("needs %1").arg(range);
    if (bars_.size() > 1) text = b.name + QStringLiteral(": ") + text;
    const double width = fm.horizontalAdvance(text) + 2;
    double left = std::clamp(x(b.high) - width, row.left(), row.right() - width);
    QRectF needs(left, row.top() - 2, width, line);
    if (needs.adjusted(-8, 0, 8, 0).intersects(budget_box)) {
        left = budget_box.left() - 14 - width >= row.left() ? budget_box.left() - 14 - width
                                                            : budget_box.right() + 14;
        needs.moveLeft(left);
    }
    p.setPen(b.limited && b.low > b.budget ? t.bad : t.second);
    if (needs.right() <= row.right() + 1)
        p.drawText(needs, Qt::AlignCenter, text);
    else
        clipped_ << text;
    // Below: a scale.
    const double end = ground.width() / scale;
    const double step = tick_step(end, std::max(2, static_cast<int>(ground.width() / 130)));
    p.setPen(t.second);
    const QFontMetricsF tick_fm(p.font());
    double last = -1e9;
    for (double bytes = 0; bytes <= end * 1.0001; bytes += step) {
        QString tick = bytes == 0 ? QStringLiteral("0") : bytes_words(bytes);
        tick.replace(QStringLiteral(".00 "), QStringLiteral(" "))
            .replace(QStringLiteral(".0 "), QStringLiteral(" "));
        const double w = tick_fm.horizontalAdvance(tick);
        const double tx = std::clamp(x(bytes) - w / 2, row.left(), row.right() - w);
        if (tx < last + 10) continue;
        p.drawText(QRectF(tx, top + height + 3, w + 1, line), Qt::AlignCenter, tick);
        last = tx + w;
    }
}

void MemoryBar::draw_legend(QPainter& p, double y) {
    const Theme& t = theme();
    const QFontMetricsF fm(p.font());
    const double line = fm.height();
    double x = 1;
    const auto entry = [&](const QString& text, const std::function<void(const QRectF&)>& swatch) {
        const double width = 16 + fm.horizontalAdvance(text) + 18;
        if (x + width - 18 > this->width()) {
            clipped_ << text;
            return;
        }
        swatch(QRectF(x, y + line / 2 - 5, 10, 10));
        p.setPen(t.text);
        p.drawText(QRectF(x + 16, y, width, line), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += width;
    };
    for (std::size_t part = 0; part < plan::kParts; ++part) {
        double bytes = 0;
        for (const Bar& b : bars_) bytes += b.parts[part];
        if (bytes <= 0) continue;
        entry(part_words(static_cast<plan::Part>(part)) + ' ' + bytes_words(bytes), [&](const QRectF& box) {
            p.setPen(Qt::NoPen);
            p.setBrush(t.of(data_class(static_cast<plan::Part>(part))));
            p.drawRoundedRect(box, 2, 2);
        });
    }
    if (std::any_of(bars_.begin(), bars_.end(), [](const Bar& b) { return b.high > b.low; }))
        entry(tr("uncertain"), [&](const QRectF& box) { hatch(p, box, t.text, 4); });
}

void MemoryBar::paintEvent(QPaintEvent*) {
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setFont(type(Type::note));
    segments_.clear();
    clipped_.clear();
    const double line = QFontMetricsF(p.font()).height();
    const double legend = line + 4;
    const double each = bars_.empty() ? 0 : (height() - legend) / static_cast<double>(bars_.size());
    for (std::size_t i = 0; i < bars_.size(); ++i)
        draw_bar(p, i, QRectF(1, static_cast<double>(i) * each + 2, width() - 2, each - 4));
    draw_legend(p, height() - legend + 2);
    if (hasFocus() && chosen_ >= 0 && static_cast<std::size_t>(chosen_) < segments_.size()) {
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(theme().accent, 2));
        p.drawRect(segments_[static_cast<std::size_t>(chosen_)].box.adjusted(-2, -2, 2, 2));
    }
}

int MemoryBar::segment_at(QPointF at) const {
    for (std::size_t i = 0; i < segments_.size(); ++i)
        if (segments_[i].box.adjusted(-3, -4, 3, 4).contains(at)) return static_cast<int>(i);
    return -1;
}

void MemoryBar::mouseMoveEvent(QMouseEvent* event) {
    setCursor(segment_at(event->position()) >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void MemoryBar::mouseReleaseEvent(QMouseEvent* event) {
    if (const int i = segment_at(event->position()); i >= 0)
        Q_EMIT clicked(ledger_item_of(segments_[static_cast<std::size_t>(i)].part));
}

void MemoryBar::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(segments_.size());
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
            if (count > 0)
                chosen_ = std::clamp(chosen_ + (event->key() == Qt::Key_Right ? 1 : -1), 0, count - 1);
            update();
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (chosen_ >= 0 && chosen_ < count)
                Q_EMIT clicked(ledger_item_of(segments_[static_cast<std::size_t>(chosen_)].part));
            return;
    }
    QWidget::keyPressEvent(event);
}

bool MemoryBar::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        if (const int i = segment_at(help->pos()); i >= 0) {
            const Segment& s = segments_[static_cast<std::size_t>(i)];
            QToolTip::showText(help->globalPos(),
                               tr("%1: %2 bytes\nClick to see where it comes from")
                                   .arg(part_words(s.part), shown_count(std::llround(s.bytes))),
                               this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace memwall::gui
