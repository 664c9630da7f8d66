// Numbers as the window prints them: the command's text with the thousands' comma, the hyphen of a range and
// the minus made typographic, and the decimals as the user's language writes them.
#pragma once

#include <QLocale>
#include <QString>
#include <string_view>

#include "core/base/interval.h"

namespace memwall::gui {

/// QString from the library's UTF-8.
inline QString text_of(std::string_view s) {
    return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size()));
}

/// "16,640" -> "16 640" with U+202F between; "1.60 - 2.24" -> "1.60–2.24"; "-0.84 GiB" -> "−0.84 GiB".
QString shown(QString text);
/// "0.97 GiB - 1.11 GiB" -> "0.97–1.11 GiB": the unit once where both ends have the same.
QString shown_range(const QString& text);
inline QString shown(std::string_view text) {
    return shown(text_of(text));
}
QString shown_count(std::int64_t count);

/// Charts and limits measure memory in GiB.
inline double gib(double bytes) {
    return bytes / static_cast<double>(kGiB);
}
inline double gib(Bytes bytes) {
    return gib(bytes.as_double());
}

}  // namespace memwall::gui
