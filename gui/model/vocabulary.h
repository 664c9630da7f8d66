// Words of the library's fixed vocabularies (statuses, bases, metrics, what is verified) in the user's
// language.
#pragma once

#include <QString>
#include <string_view>

namespace memwall::gui {

/// The word translated where it is one of a vocabulary, with its parts where it is made of some ("ttft p95",
/// "prior of class sbc_cpu"); else as it is: names and free text.
QString in_words(std::string_view word);

}  // namespace memwall::gui
