// Why a candidate is not admitted, in words, and what would help.
#include <cmath>

#include "core/base/size_text.h"
#include "core/quality/words.h"
#include "core/view/quantity_text.h"
#include "gui/model/numbers.h"
#include "gui/model/triangle.h"

namespace memwall::gui {

static QString decimal(double value, int digits) {
    return QString::number(value, 'f', digits);
}

namespace {

struct LimitWords {
    plan::Broken bit;
    const char* option;
};
constexpr LimitWords kLimitWords[] = {
    {plan::kMemory, "max-memory"}, {plan::kDecode, "min-decode"},   {plan::kFirstToken, "max-ttft"},
    {plan::kJob, "max-job"},       {plan::kContext, "min-context"}, {plan::kQuality, "min-quality"},
    {plan::kLoad, "max-load"},     {plan::kEnergy, "max-energy"},
};

}  // namespace

/// "memory at most 7.00GiB".
static QString limit_words(const QString& option, const QString& text) {
    static const std::pair<const char*, const char*> kWords[] = {
        {"max-memory", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "memory at most %1")},
        {"min-decode", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "decode at least %1 tok/s")},
        {"max-ttft", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "first token within %1")},
        {"max-job", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "job within %1")},
        {"max-load", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "load within %1")},
        {"max-energy", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "at most %1 J a token")},
        {"min-context", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "context at least %1")},
        {"min-quality", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "tokens kept at least %1")},
        {"min-score", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "score at least %1")},
        {"allow-unknown-quality", QT_TRANSLATE_NOOP("memwall::gui::Triangle", "unknown quality allowed")},
    };
    for (const auto& [name, words] : kWords)
        if (option == QLatin1String(name)) {
            const QString line = Triangle::tr(words);
            return line.contains("%1") ? line.arg(text) : line;
        }
    return {};
}

Triangle::Tightest Triangle::tightest() const {
    Tightest best;
    for (const auto& [bit, option] : kLimitWords) {
        if (!texts_.contains(QLatin1String(option))) continue;
        std::size_t alone = 0;
        for (std::size_t i = 0; i < shown_.size(); ++i) alone += broken_[i] == bit && !below_score_[i];
        if (alone > best.excludes || best.text.isEmpty())
            best = {limit_words(QLatin1String(option), texts_[QLatin1String(option)]), alone};
    }
    if (min_score_ > 0) {
        std::size_t alone = 0;
        for (std::size_t i = 0; i < shown_.size(); ++i) alone += broken_[i] == 0 && below_score_[i];
        if (alone > best.excludes || best.text.isEmpty())
            best = {limit_words(QStringLiteral("min-score"), texts_["min-score"]), alone};
    }
    return best;
}

/// One demand that a candidate breaks, with its number and the limit.
static QString reason_words(plan::Broken one, const plan::Candidate& c, const plan::Constraints& limits) {
    const auto bytes = [](Bytes b) { return text_of(bytes_text(b)); };
    const auto seconds = [](double s) { return text_of(seconds_text(Seconds(s))); };
    switch (one) {
        case plan::kUnsupported:
            return Triangle::tr("the runtime or the device cannot run it");
        case plan::kDoesNotFit:
            return Triangle::tr("needs %1, the device gives %2").arg(bytes(c.needed.low), bytes(c.budget));
        case plan::kUndecided:
            return Triangle::tr("needs %1 to %2 of %3: too close to call")
                .arg(bytes(c.needed.low), bytes(c.needed.high), bytes(c.budget));
        case plan::kMemory:
            return Triangle::tr("needs %1, the limit is %2")
                .arg(bytes(c.footprint.central), bytes(limits.max_memory));
        case plan::kDecode:
            return Triangle::tr("decodes %1 tok/s, %2 asked")
                .arg(text_of(view::text(c.decode)), text_of(view::number_text(limits.min_decode)));
        case plan::kFirstToken:
            return Triangle::tr("first token after %1, the limit is %2")
                .arg(seconds(c.first_token.central.value), seconds(limits.max_ttft));
        case plan::kJob:
            return Triangle::tr("the job takes %1, the limit is %2")
                .arg(seconds(c.job.central.value), seconds(limits.max_job));
        case plan::kContext:
            return Triangle::tr("holds %1 tokens, %2 asked")
                .arg(text_of(count_text(c.context)), text_of(count_text(limits.min_context)));
        case plan::kQuality:
            return Triangle::tr("keeps %1 % of tokens, %2 % asked")
                .arg(decimal(100 * (1 - c.loss.top1_disagreement.central), 1),
                     decimal(100 * limits.min_quality, 1));
        case plan::kQualityUnknown:
            return Triangle::tr("quality unknown: %1").arg(text_of(quality::reason_text(c.loss.reason)));
        case plan::kSpeedUnknown:
            return Triangle::tr("speed unknown");
        case plan::kLoad:
            return Triangle::tr("loads in %1, the limit is %2")
                .arg(seconds(c.load.central.value), seconds(limits.max_load));
        case plan::kEnergy:
            return Triangle::tr("takes %1 J a token, the limit is %2")
                .arg(text_of(view::number_text(c.energy_per_token.central.value)),
                     text_of(view::number_text(limits.max_energy)));
    }
    return {};
}

/// `limits` as option texts, rounded away from the candidate so that it is admitted.
static QString outward(const QString& option, double value) {
    const auto step = [&](double unit, bool up) {
        return (up ? std::ceil(value / unit) : std::floor(value / unit)) * unit;
    };
    if (option == "max-memory") return Triangle::limit_text(option, step(0.01, true));
    if (option == "min-quality" || option == "min-score")
        return Triangle::limit_text(option, step(0.1, false));
    const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
    return Triangle::limit_text(option, step(unit, option.startsWith("max")));
}

Triangle::WhyNot Triangle::why_not(std::size_t i) const {
    WhyNot w;
    const plan::Candidate& c = shown_[i];
    for (const plan::Broken one : plan::broken_list(broken_[i]))
        w.reasons.append(reason_words(one, c, limits_));
    if (below_score_[i])
        w.reasons.append(scores_[i] < 0
                             ? tr("no published score")
                             : tr("scores %1, %2 asked").arg(decimal(scores_[i], 1), decimal(min_score_, 1)));
    if (w.reasons.isEmpty()) return w;
    // Among its own model's candidates: another model is another answer, not a change.
    const devices::FieldModel& m = field_->models[model_of_[i]];
    std::size_t first = i, last = i;
    while (first > 0 && model_of_[first - 1] == model_of_[i]) --first;
    while (last + 1 < shown_.size() && model_of_[last + 1] == model_of_[i]) ++last;
    plan::Decision own;
    for (std::size_t k = first; k <= last; ++k) {
        own.broken.push_back(broken_[k]);
        if (admitted(k)) own.admitted.push_back(static_cast<std::uint32_t>(k - first));
    }
    const std::span<const plan::Candidate> same(shown_.data() + first, last - first + 1);
    const plan::SmallestChange s = plan::smallest_change(m.grid, same, own, limits_, i - first);
    if (s.candidate >= 0) {
        w.instead = first + static_cast<std::size_t>(s.candidate);
        QStringList words;
        for (const plan::OptionChange& o : s.options)
            words.append(
                QStringLiteral("--%1 %2 → %3").arg(text_of(o.option), text_of(o.from), text_of(o.to)));
        w.change = words.join(QStringLiteral(", "));
    }
    if (broken_[i] != 0 && s.moved.empty()) return w;
    const auto add = [&](const QString& option, const QString& text) {
        w.limits[option] = text;
        w.limit_words.append(limit_words(option, text));
    };
    for (const plan::Broken one : s.moved) {
        if (one == plan::kQualityUnknown) add(QStringLiteral("allow-unknown-quality"), QStringLiteral("on"));
        if (one == plan::kMemory)
            add(QStringLiteral("max-memory"),
                outward(QStringLiteral("max-memory"), gib(s.limits.max_memory)));
        if (one == plan::kDecode)
            add(QStringLiteral("min-decode"), outward(QStringLiteral("min-decode"), s.limits.min_decode));
        if (one == plan::kFirstToken)
            add(QStringLiteral("max-ttft"), outward(QStringLiteral("max-ttft"), s.limits.max_ttft));
        if (one == plan::kJob)
            add(QStringLiteral("max-job"), outward(QStringLiteral("max-job"), s.limits.max_job));
        if (one == plan::kLoad)
            add(QStringLiteral("max-load"), outward(QStringLiteral("max-load"), s.limits.max_load));
        if (one == plan::kEnergy)
            add(QStringLiteral("max-energy"), outward(QStringLiteral("max-energy"), s.limits.max_energy));
        if (one == plan::kContext) add(QStringLiteral("min-context"), QString::number(s.limits.min_context));
        if (one == plan::kQuality)
            add(QStringLiteral("min-quality"),
                outward(QStringLiteral("min-quality"), 100 * s.limits.min_quality));
    }
    if (below_score_[i]) {
        if (scores_[i] < 0)
            w.limits["min-score"] = QString();
        else
            add(QStringLiteral("min-score"), outward(QStringLiteral("min-score"), scores_[i]));
    }
    return w;
}

}  // namespace memwall::gui
