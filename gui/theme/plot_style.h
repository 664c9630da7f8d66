// SPDX-License-Identifier: GPL-3.0-only
// The theme as charts take it.
#pragma once

#include "gui/charts/plot.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

inline PlotStyle plot_style() {
    const Theme& t = theme();
    return {t.card, t.card, t.grid, t.border, t.text, t.second, t.accent};
}

}  // namespace memwall::gui
