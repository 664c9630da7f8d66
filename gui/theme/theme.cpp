// SPDX-License-Identifier: GPL-3.0-only
#include "gui/theme/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPalette>
#include <QStyle>
#include <QWidget>
#include <algorithm>
#include <cmath>

namespace memwall::gui {
namespace {

Appearance g_appearance = Appearance::system;
const Theme* g_theme = nullptr;
QPalette g_system_palette;
bool g_system_known = false;

double channel(double c) {
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// Relative luminance of WCAG 2.
double luminance(const QColor& c) {
    return 0.2126 * channel(c.redF()) + 0.7152 * channel(c.greenF()) + 0.0722 * channel(c.blueF());
}

double base_size() {
    static const double size = [] {
        const double points = QApplication::font().pointSizeF();
        return points > 0 ? std::clamp(points, 8.0, 16.0) : 10.0;
    }();
    return size;
}

/// No colorScheme() before Qt 6.5: the system is dark when its text is lighter than its windows.
bool system_is_dark() {
    return g_system_palette.color(QPalette::WindowText).lightnessF() >
           g_system_palette.color(QPalette::Window).lightnessF();
}

QPalette palette_of(const Theme& t) {
    QPalette p;
    p.setColor(QPalette::Window, t.window);
    p.setColor(QPalette::WindowText, t.text);
    p.setColor(QPalette::Base, t.card);
    p.setColor(QPalette::AlternateBase, t.stripe);
    p.setColor(QPalette::Text, t.text);
    p.setColor(QPalette::PlaceholderText, t.second);
    p.setColor(QPalette::Button, t.field);
    p.setColor(QPalette::ButtonText, t.text);
    p.setColor(QPalette::BrightText, t.bad);
    p.setColor(QPalette::Light, t.card);
    p.setColor(QPalette::Midlight, t.grid);
    p.setColor(QPalette::Mid, t.border);
    p.setColor(QPalette::Dark, t.border);
    p.setColor(QPalette::Shadow, t.border);
    p.setColor(QPalette::Highlight, t.selection);
    p.setColor(QPalette::HighlightedText, t.text);
    p.setColor(QPalette::Link, t.accent);
    p.setColor(QPalette::LinkVisited, t.accent);
    p.setColor(QPalette::ToolTipBase, t.card);
    p.setColor(QPalette::ToolTipText, t.text);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, t.second);
    return p;
}

QString style_sheet(const Theme& t) {
    QString sheet = R"(
QWidget { font-size: %control%pt; }
QWidget[role="card"] { background: %card%; border: 1px solid %border%; border-radius: 6px; }
QWidget[role="header"] { background: %card%; border: none; border-bottom: 1px solid %border%; }
QWidget[role="footer"] { background: %card%; border: none; border-top: 1px solid %border%; }
QWidget[role="panel"] { background: %card%; border: none; }
QWidget[role="pinned"] { background: %card%; border: none; border-top: 1px solid %border%; }
QScrollArea[role="panel"] { border: none; border-right: 1px solid %border%; }
QWidget[role="error"] { background: %card%; border: none; border-bottom: 2px solid %bad%; }
QLabel[role="note"] { color: %second%; font-size: %note%pt; }
QLabel[role="fact"] { color: %second%; font-size: %note%pt; }
QLabel[role="caption"] { color: %second%; font-size: %note%pt; }
QLabel[role="name"] { font-weight: 600; }
QLabel[role="title"] { font-size: %title%pt; font-weight: 600; }
QLabel[role="result"] { font-size: %result%pt; font-weight: 600; }
QLabel[role="result"][tone="good"] { color: %good%; }
QLabel[role="result"][tone="warning"] { color: %warning%; }
QLabel[role="result"][tone="bad"] { color: %bad%; }
QLabel[role="result"][tone="accent"] { color: %accent%; }
QLabel[tone="good"] { color: %good%; }
QLabel[tone="warning"] { color: %warning%; }
QLabel[tone="bad"] { color: %bad%; }
QLabel[role="brand"] { font-size: 12.5pt; }
QPushButton { background: %card%; border: 1px solid %border%; border-radius: 5px; padding: 5px 14px; color: %text%; }
QPushButton:hover, QToolButton:hover { border-color: %second%; }
QPushButton:pressed { background: %field%; }
QPushButton:disabled { color: %second%; background: %window%; }
QPushButton:focus, QComboBox:focus, QLineEdit:focus, QToolButton:focus { border: 2px solid %accent%; }
QPushButton[role="choice"] { background: %field%; padding: 3px 7px; }
QPushButton[role="choice"][invalid="true"] { border: 2px solid %bad%; }
QPushButton[role="primary"] { background: %accent%; color: %on_accent%; border-color: %accent%; }
QPushButton[role="link"] { background: transparent; border: 2px solid transparent; padding: 0px; color: %accent%; font-weight: 600; text-align: left; }
QPushButton[role="link"]:hover { text-decoration: underline; }
QPushButton[role="link"]:focus { border: 2px solid %accent%; border-radius: 4px; }
QPushButton::menu-indicator { image: url(:/icons/arrow_%shade%.svg); width: 9px; height: 9px; subcontrol-origin: padding; subcontrol-position: right center; right: 8px; }
QPushButton[menu="true"] { padding-right: 24px; }
QPushButton[role="tab"] { background: transparent; border: none; border-bottom: 3px solid transparent; border-radius: 0px; padding: 10px 15px 8px 15px; color: %second%; font-size: %title%pt; }
QPushButton[role="tab"]:hover { color: %text%; }
QPushButton[role="tab"]:checked { color: %text%; font-weight: 600; border-bottom-color: %accent%; }
QPushButton[role="tab"]:focus { border-bottom: 3px solid %accent%; background: %window%; }
QComboBox, QLineEdit, QSpinBox { background: %field%; border: 1px solid %border%; border-radius: 5px; padding: 3px 7px; min-height: 17px; color: %text%; selection-background-color: %selection%; selection-color: %text%; }
QComboBox:disabled, QLineEdit:disabled { color: %second%; background: %window%; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/icons/arrow_%shade%.svg); width: 9px; height: 9px; }
QLineEdit[invalid="true"], QComboBox[invalid="true"] { border: 2px solid %bad%; }
QLineEdit[role="mono"], QLabel[role="mono"] { font-family: "DejaVu Sans Mono", monospace; font-size: %note%pt; }
QLineEdit[role="mono"] { border: none; background: transparent; padding: 0px; }
QTreeView, QTableView, QListView { background: %card%; alternate-background-color: %stripe%; border: none; color: %text%; selection-background-color: %selection%; selection-color: %text%; outline: none; }
QAbstractItemView::item { padding: 2px 4px; }
QHeaderView { background: %card%; border: none; }
QHeaderView::section { background: %card%; color: %second%; border: none; border-bottom: 1px solid %border%; padding: 4px 6px; font-size: %note%pt; }
QTableCornerButton::section { background: %card%; border: none; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: %border%; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: %accent%; }
QSlider::handle:horizontal { width: 14px; height: 14px; margin: -6px 0px; border-radius: 8px; background: %accent%; border: 1px solid %card%; }
QSlider::handle:horizontal:focus { border: 2px solid %text%; }
QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled { background: %second%; }
QProgressBar { background: %border%; border: none; border-radius: 3px; min-height: 6px; max-height: 6px; text-align: center; color: transparent; }
QProgressBar::chunk { background: %accent%; border-radius: 3px; }
QScrollBar:vertical { background: transparent; width: 9px; margin: 0px; }
QScrollBar:horizontal { background: transparent; height: 9px; margin: 0px; }
QScrollBar::handle { background: %border%; border-radius: 4px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: %second%; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: transparent; border: none; width: 0px; height: 0px; }
QToolTip { background: %card%; color: %text%; border: 1px solid %border%; padding: 3px; }
QMenu { background: %card%; border: 1px solid %border%; padding: 4px; }
QMenu::item { padding: 5px 22px 5px 14px; border-radius: 4px; }
QMenu::item:selected { background: %selection%; color: %text%; }
QMenu::item:disabled { color: %second%; }
QMenu::separator { height: 1px; background: %border%; margin: 4px 8px; }
QFrame[role="line"] { background: %border%; border: none; min-height: 1px; max-height: 1px; }
QGroupBox { border: none; }
QCheckBox { spacing: 6px; }
)";
    const auto size = [&](double share) { return QString::number(base_size() * share, 'f', 2); };
    const std::pair<const char*, QString> words[] = {{"%card%", t.card.name()},
                                                     {"%border%", t.border.name()},
                                                     {"%window%", t.window.name()},
                                                     {"%text%", t.text.name()},
                                                     {"%second%", t.second.name()},
                                                     {"%accent%", t.accent.name()},
                                                     {"%good%", t.good.name()},
                                                     {"%warning%", t.warning.name()},
                                                     {"%bad%", t.bad.name()},
                                                     {"%field%", t.field.name()},
                                                     {"%stripe%", t.stripe.name()},
                                                     {"%selection%", t.selection.name()},
                                                     {"%on_accent%", t.on_accent.name()},
                                                     {"%shade%", t.dark ? "dark" : "light"},
                                                     {"%note%", size(0.85)},
                                                     {"%control%", size(0.95)},
                                                     {"%title%", size(1.0)},
                                                     {"%result%", size(1.4)}};
    for (const auto& [word, value] : words) sheet.replace(QLatin1String(word), value);
    return sheet;
}

Theme make_light() {
    Theme t;
    t.window = "#F3F5F8", t.card = "#FFFFFF", t.border = "#D9DEE6", t.grid = "#E9ECF1";
    t.text = "#1A2330", t.second = "#566273", t.accent = "#0B5CBF";
    t.good = "#0F766E", t.warning = "#9A5B00", t.bad = "#B3261E", t.other_apps = "#C9CFD8";
    t.field = "#F3F5F8", t.stripe = "#F3F5F8", t.selection = "#D2DFF0", t.on_accent = "#FFFFFF";
    t.data = {"#4677B7", "#D27F2A", "#582590", "#10A797", "#641146", "#616366"};
    return t;
}

Theme make_dark() {
    Theme t;
    t.dark = true;
    t.window = "#12161C", t.card = "#1C222A", t.border = "#343E4A", t.grid = "#2A323C";
    t.text = "#E8ECF2", t.second = "#A3AFBD", t.accent = "#7AB8FF";
    t.good = "#4FD1BD", t.warning = "#F2B84B", t.bad = "#FF8A80", t.other_apps = "#3C4653";
    t.field = "#252D37", t.stripe = "#212832", t.selection = "#2F4562", t.on_accent = "#0B1420";
    t.data = {"#5EA0FC", "#EFAB35", "#8D5CBD", "#82F5DD", "#C03969", "#B1B2B4"};
    return t;
}

}  // namespace

const Theme& light_theme() {
    static const Theme t = make_light();
    return t;
}

const Theme& dark_theme() {
    static const Theme t = make_dark();
    return t;
}

QColor Theme::text_on(const QColor& ground) {
    const double contrast = 1.05 / (luminance(ground) + 0.05);
    return contrast >= 4.5 ? QColor("#FFFFFF") : QColor("#10161F");
}

const Theme& theme() {
    return g_theme ? *g_theme : light_theme();
}

Appearance appearance() {
    return g_appearance;
}

void set_appearance(Appearance wanted) {
    if (!g_system_known) {
        g_system_palette = QApplication::palette();
        g_system_known = true;
        base_size();
    }
    g_appearance = wanted;
    const bool dark = wanted == Appearance::dark || (wanted == Appearance::system && system_is_dark());
    g_theme = dark ? &dark_theme() : &light_theme();
    // Both: with the style sheet alone Fusion's check marks stay light.
    QApplication::setPalette(palette_of(*g_theme));
    qApp->setStyleSheet(style_sheet(*g_theme));
}

QFont type(Type which) {
    QFont font =
        which == Type::mono ? QFontDatabase::systemFont(QFontDatabase::FixedFont) : QApplication::font();
    constexpr double kShares[] = {0.85, 0.95, 1.0, 1.4, 0.85};
    font.setPointSizeF(base_size() * kShares[static_cast<int>(which)]);
    if (which == Type::title || which == Type::result) font.setWeight(QFont::DemiBold);
    return font;
}

void set_role(QObject* widget, const char* role) {
    widget->setProperty("role", QString::fromLatin1(role));
}

void restyle(QWidget* widget) {
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
    widget->update();
}

}  // namespace memwall::gui
