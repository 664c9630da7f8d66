#include "gui/model/numbers.h"

#include <QRegularExpression>

#include "core/base/size_text.h"

namespace memwall::gui {
namespace {

constexpr QChar kThin(0x202F), kMinus(0x2212), kDash(0x2013);

}  // namespace

QString shown(QString text) {
    static const QRegularExpression thousands(QStringLiteral("(?<=\\d),(?=\\d{3})"));
    text.replace(thousands, QString(kThin));
    if (text.startsWith('-')) text[0] = kMinus;
    // A decimal comma where the language has one.
    if (const QString point = QLocale().decimalPoint(); point != ".") {
        static const QRegularExpression decimal(QStringLiteral("(?<=\\d)\\.(?=\\d)"));
        text.replace(decimal, point);
    }
    return text;
}

QString shown_range(const QString& range) {
    const qsizetype at = range.indexOf(QStringLiteral(" - "));
    if (at < 0) return shown(range);
    QString low = range.left(at);
    const QString high = range.mid(at + 3);
    static const QRegularExpression unit(QStringLiteral("^(-?[\\d.,]+) (\\S+)$"));
    const auto a = unit.match(low), b = unit.match(high);
    if (a.hasMatch() && b.hasMatch() && a.captured(2) == b.captured(2)) low = a.captured(1);
    return shown(low) + (high.startsWith('-') ? QStringLiteral(" %1 ").arg(kDash) : QString(kDash)) +
           shown(high);
}

QString shown_count(std::int64_t count) {
    return shown(text_of(count_text(count)));
}

}  // namespace memwall::gui
