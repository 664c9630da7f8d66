#include "gui/model/vocabulary.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

#include "gui/model/numbers.h"

namespace memwall::gui {
namespace {

const char* const kWords[] = {
    QT_TRANSLATE_NOOP("vocabulary", "read bandwidth"),
    QT_TRANSLATE_NOOP("vocabulary", "allocated weights"),
    QT_TRANSLATE_NOOP("vocabulary", "allocated cache"),
    QT_TRANSLATE_NOOP("vocabulary", "allocated activations"),
    QT_TRANSLATE_NOOP("vocabulary", "resident"),
    QT_TRANSLATE_NOOP("vocabulary", "decode"),
    QT_TRANSLATE_NOOP("vocabulary", "first token"),
    QT_TRANSLATE_NOOP("vocabulary", "measured"),
    QT_TRANSLATE_NOOP("vocabulary", "interpolated"),
    QT_TRANSLATE_NOOP("vocabulary", "estimated"),
    QT_TRANSLATE_NOOP("vocabulary", "bounded"),
    QT_TRANSLATE_NOOP("vocabulary", "refused"),
    QT_TRANSLATE_NOOP("vocabulary", "measured on x86, llama.cpp 0.5.0"),
    QT_TRANSLATE_NOOP("vocabulary", "replayed; the engine was measured on x86 only"),
    QT_TRANSLATE_NOOP("vocabulary", "replayed for a CPU; GPU placement not replayed"),
    QT_TRANSLATE_NOOP("vocabulary",
                      "rule read from the engine's source for this instruction set, not measured"),
    QT_TRANSLATE_NOOP("vocabulary", "instruction set unknown: no copy to all"),
    QT_TRANSLATE_NOOP("vocabulary", "public logs of six cards"),
    QT_TRANSLATE_NOOP("vocabulary", "requests"),
    QT_TRANSLATE_NOOP("vocabulary", "finished"),
    QT_TRANSLATE_NOOP("vocabulary", "cut short"),
    QT_TRANSLATE_NOOP("vocabulary", "unfinished"),
    QT_TRANSLATE_NOOP("vocabulary", "ttft"),
    QT_TRANSLATE_NOOP("vocabulary", "tpot"),
    QT_TRANSLATE_NOOP("vocabulary", "itl"),
    QT_TRANSLATE_NOOP("vocabulary", "e2e"),
    QT_TRANSLATE_NOOP("vocabulary", "queue"),
    QT_TRANSLATE_NOOP("vocabulary", "goodput"),
    QT_TRANSLATE_NOOP("vocabulary", "output rate"),
    QT_TRANSLATE_NOOP("vocabulary", "output tokens"),
    QT_TRANSLATE_NOOP("vocabulary", "utilization"),
    QT_TRANSLATE_NOOP("vocabulary", "batch"),
    QT_TRANSLATE_NOOP("vocabulary", "pool occupancy"),
    QT_TRANSLATE_NOOP("vocabulary", "pool waste"),
    QT_TRANSLATE_NOOP("vocabulary", "pool cached"),
    QT_TRANSLATE_NOOP("vocabulary", "pool fragmentation"),
    QT_TRANSLATE_NOOP("vocabulary", "preemptions"),
    QT_TRANSLATE_NOOP("vocabulary", "recomputed tokens"),
    QT_TRANSLATE_NOOP("vocabulary", "prefix hit"),
    QT_TRANSLATE_NOOP("vocabulary", "evicted tokens"),
    QT_TRANSLATE_NOOP("vocabulary", "sessions evicted"),
    QT_TRANSLATE_NOOP("vocabulary", "swapped"),
    QT_TRANSLATE_NOOP("vocabulary", "draft acceptance"),
    QT_TRANSLATE_NOOP("vocabulary", "peak memory"),
    QT_TRANSLATE_NOOP("vocabulary", "mean memory"),
    QT_TRANSLATE_NOOP("vocabulary", "loads"),
    QT_TRANSLATE_NOOP("vocabulary", "loading"),
    QT_TRANSLATE_NOOP("vocabulary", "load cached"),
    QT_TRANSLATE_NOOP("vocabulary", "card refusals"),
    QT_TRANSLATE_NOOP("vocabulary", "card wait"),
    QT_TRANSLATE_NOOP("vocabulary", "kills"),
    QT_TRANSLATE_NOOP("vocabulary", "own kills"),
    QT_TRANSLATE_NOOP("vocabulary", "major faults"),
    QT_TRANSLATE_NOOP("vocabulary", "throttled"),
    QT_TRANSLATE_NOOP("vocabulary", "first throttle"),
    QT_TRANSLATE_NOOP("vocabulary", "hottest"),
    QT_TRANSLATE_NOOP("vocabulary", "slowest speed"),
    QT_TRANSLATE_NOOP("vocabulary", "energy"),
    QT_TRANSLATE_NOOP("vocabulary", "energy per token"),
    QT_TRANSLATE_NOOP("vocabulary", "battery end"),
    QT_TRANSLATE_NOOP("vocabulary", "battery per 1000"),
    QT_TRANSLATE_NOOP("vocabulary", "switched off"),
};

QString translated(const char* word) {
    return QCoreApplication::translate("vocabulary", word);
}

}  // namespace

QString in_words(std::string_view word) {
    const auto known = std::find(std::begin(kWords), std::end(kWords), word);
    if (known != std::end(kWords)) return translated(*known);
    constexpr std::string_view kPrior = "prior of class ", kRows = " rows of ";
    if (word.starts_with(kPrior))
        return translated(QT_TRANSLATE_NOOP("vocabulary", "prior of class %1"))
            .arg(text_of(word.substr(kPrior.size())));
    if (const std::size_t at = word.find(kRows); at != word.npos)
        return translated(QT_TRANSLATE_NOOP("vocabulary", "%1 rows of %2"))
            .arg(text_of(word.substr(0, at)), text_of(word.substr(at + kRows.size())));
    // "ttft mean", "ttft p95": a metric and which of its values.
    const std::size_t blank = word.rfind(' ');
    if (blank == word.npos) return text_of(word);
    const std::string_view value = word.substr(blank + 1);
    const bool quantile = value.size() > 1 && value.front() == 'p' && value[1] >= '0' && value[1] <= '9';
    if (!quantile && value != "mean") return text_of(word);
    return in_words(word.substr(0, blank)) + QLatin1Char(' ') +
           (quantile ? text_of(value) : translated(QT_TRANSLATE_NOOP("vocabulary", "mean")));
}

}  // namespace memwall::gui
