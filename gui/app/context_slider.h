// SPDX-License-Identifier: GPL-3.0-only
// A slider of contexts: logarithmic, with stops at powers of two.
#pragma once

#include <QSlider>
#include <cstdint>

namespace memwall::gui {

/// Its arrows go from one power of two to the next (Shift: one fine step); a dragging pointer is caught near
/// a stop.
class ContextSlider : public QSlider {
  public:
    ContextSlider();
    void set_last(std::int64_t tokens);  ///< what its right end stands for
    void set_context(std::int64_t tokens);
    /// A context that engines can have: powers of two, and round numbers between them.
    static std::int64_t context_at(int position);

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void sliderChange(SliderChange change) override;
};

}  // namespace memwall::gui
