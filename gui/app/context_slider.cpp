// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/context_slider.h"

#include <QKeyEvent>
#include <algorithm>
#include <cmath>

namespace memwall::gui {
namespace {

constexpr int kOctave = 16;  // slider steps between powers of two
constexpr int kLowest = 8;   // 2^8 = 256 tokens

double steps_of(std::int64_t context) {
    return (std::log2(static_cast<double>(context)) - kLowest) * kOctave;
}

}  // namespace

ContextSlider::ContextSlider() : QSlider(Qt::Horizontal) {
    setMinimum(0);
    setSingleStep(kOctave);
    setPageStep(kOctave);
}

std::int64_t ContextSlider::context_at(int position) {
    const double tokens = std::exp2(kLowest + static_cast<double>(position) / kOctave);
    if (position % kOctave == 0) return std::llround(tokens);
    const double grain = tokens >= 8192 ? 256 : tokens >= 1024 ? 64 : 16;
    return std::llround(tokens / grain) * static_cast<std::int64_t>(grain);
}

void ContextSlider::set_last(std::int64_t tokens) {
    setMaximum(static_cast<int>(std::ceil(steps_of(tokens))));
}

void ContextSlider::set_context(std::int64_t tokens) {
    // A typed number between two steps stays what it is.
    if (context_at(value()) != tokens)
        setValue(static_cast<int>(std::lround(steps_of(std::max<std::int64_t>(tokens, 1 << kLowest)))));
}

void ContextSlider::keyPressEvent(QKeyEvent* event) {
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

void ContextSlider::sliderChange(SliderChange change) {
    if (change == SliderValueChange && isSliderDown()) {
        const int stop = static_cast<int>(std::lround(static_cast<double>(value()) / kOctave)) * kOctave;
        if (value() != stop && std::abs(value() - stop) <= 2 && stop <= maximum()) {
            setValue(stop);
            return;
        }
    }
    QSlider::sliderChange(change);
}

}  // namespace memwall::gui
