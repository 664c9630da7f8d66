// SPDX-License-Identifier: GPL-3.0-only
// Colours and type of the window, one struct for each appearance. Palette, style sheet and charts are all
// made from it.
//
// The data classes were chosen by search over OKLab distance under normal, protan, deutan and tritan vision;
// contrast against the card is 3:1 or more, of text 5.4:1 or more.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>
#include <array>

class QApplication;

namespace memwall::gui {

/// What the data colours stand for, in the order in which they are stacked.
enum class DataClass { weights, kv_cache, recurrent_state, compute, draft, overhead };
inline constexpr std::size_t kDataClasses = 6;

struct Theme {
    bool dark = false;
    QColor window, card, border, grid, text, second, accent, good, warning, bad;
    QColor other_apps;
    QColor field;      ///< ground of inputs
    QColor stripe;     ///< every second row of a table
    QColor selection;  ///< selected row
    QColor on_accent;  ///< text on the accent
    std::array<QColor, kDataClasses> data;

    QColor of(DataClass c) const { return data[static_cast<std::size_t>(c)]; }
    /// White where that gives 4.5:1 on `ground`, else near-black.
    static QColor text_on(const QColor& ground);
};

const Theme& light_theme();
const Theme& dark_theme();

enum class Appearance { system, light, dark };

/// The theme in use. Widgets that paint by hand read it on every paint; changing it sends PaletteChange and
/// StyleChange to all.
const Theme& theme();
void set_appearance(Appearance appearance);
Appearance appearance();

/// Type, relative to the system's font.
enum class Type { note, control, title, result, mono };
QFont type(Type which);

/// Style sheet roles: set with set_role(label, "note"). Known: note, name, fact, title, result, caption,
/// good, warning, bad, link, card, header, footer, panel, tab, mono, error.
void set_role(QObject* widget, const char* role);
/// The same role again after a property changed.
void restyle(QWidget* widget);

}  // namespace memwall::gui
