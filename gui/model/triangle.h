// The triangle of latency, memory and quality: all candidates of one search, what the limits admit of them,
// the front, the wanted balance, and the pinned ones. Moving a limit decides again over what was searched;
// only another model, device, job or scope searches, in the worker. All numbers are the library's.
#pragma once

#include <QMap>
#include <QObject>
#include <QString>
#include <QStringList>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/plan/across.h"
#include "core/plan/admit.h"
#include "core/quality/scores.h"
#include "devices/field.h"
#include "gui/model/worker.h"

namespace memwall::gui {

/// What is compared: configurations of one model by the tokens they keep, or models by a benchmark's score.
enum class Scope { one_model, catalogue };

/// A configuration that was pinned: kept when the search is done again.
struct Pin {
    plan::Candidate candidate;
    QString model, recipe, kv;
    double score = plan::kNoScore;
    plan::Deployment deployment;
};
inline constexpr std::size_t kMostPins = 6;

class Triangle : public QObject {
    Q_OBJECT
  public:
    explicit Triangle(QObject* parent = nullptr);

    // ---- what is searched
    /// Searches unless nothing that matters differs from the last time. The deployment's recipe, KV types,
    /// draft and context are axes.
    void search(const plan::Deployment& deployment);
    void set_scope(Scope scope);
    Scope scope() const { return scope_; }
    void set_lane(quality::Lane lane);
    quality::Lane lane() const { return lane_; }
    Worker& worker() { return worker_; }
    const Worker& worker() const { return worker_; }
    bool ready() const { return field_ != nullptr; }
    double search_milliseconds() const { return milliseconds_; }
    double decide_milliseconds() const { return decide_milliseconds_; }

    // ---- the candidates shown: those of the context asked for, in the order of the search
    std::size_t size() const { return shown_.size(); }
    const plan::Candidate& candidate(std::size_t i) const { return shown_[i]; }
    /// Percent of the benchmark; plan::kNoScore without one, and in the scope of one model.
    double score(std::size_t i) const { return scores_[i]; }
    /// The published score with its reporter; nullptr without one.
    const quality::Score* published(std::size_t i) const;
    /// What quantization may take off the score: one-sided. Takes a preparation: for one candidate, not for
    /// all.
    quality::ScoreBand band(std::size_t i) const;
    QString model(std::size_t i) const;
    QString recipe(std::size_t i) const;
    QString kv(std::size_t i) const;
    QString label(std::size_t i) const;  ///< "qwen2.5-7b Q4_K_M", of one model "Q4_K_M, KV q8_0"
    plan::Deployment deployment(std::size_t i) const;
    // In the units of the axes; NaN = unknown.
    double gibibytes(std::size_t i) const;
    double job_seconds(std::size_t i) const;
    double quality_percent(std::size_t i) const;  ///< tokens kept, or the score
    std::size_t models() const;
    std::size_t contexts_left_out() const { return left_out_; }  ///< searched, but of another context
    /// Supported at all: the rest has no numbers and is not drawn.
    bool drawable(std::size_t i) const;

    // ---- limits
    const plan::Constraints& limits() const { return limits_; }
    double min_score() const { return min_score_; }
    /// By the name of core/plan/decision_options.h ("max-memory", "max-job", "min-decode", "min-quality",
    /// "min-context" ...) with text as the command takes it; empty = no limit. "min-score" is percent of the
    /// benchmark. False for text that cannot be read.
    bool set_limit(const QString& option, const QString& text);
    QString limit(const QString& option) const { return texts_.value(option); }
    /// The number that a slider or a dragged line stands for as text of that option: rounded to what people
    /// say.
    static QString limit_text(const QString& option, double value);
    void clear_limits();
    /// Stops of the context limit.
    std::vector<std::int64_t> contexts() const;

    // ---- the decision
    bool admitted(std::size_t i) const { return broken_[i] == 0 && !below_score_[i]; }
    bool on_front(std::size_t i) const { return on_front_[i]; }
    std::size_t admitted_count() const { return admitted_.size(); }
    const std::vector<std::uint32_t>& front() const { return front_; }  ///< ascending job time
    const plan::Merits& merits(std::size_t i) const { return merits_[i]; }
    void set_wanted(const std::array<double, plan::kGoals>& balance);
    const std::array<double, plan::kGoals>& wanted() const { return wanted_; }
    std::optional<std::size_t> nearest() const { return nearest_; }  ///< on the front, to the wanted balance
    /// The limit that alone excludes most, in words, and how many; empty without limits.
    struct Tightest {
        QString text;
        std::size_t excludes = 0;
    };
    Tightest tightest() const;
    /// Goals that say the same here: "latency and memory"; empty.
    QString agreeing() const;

    // ---- why not
    struct WhyNot {
        QStringList reasons;                 ///< each demand that is broken, with both numbers
        QString change;                      ///< "Q6_K → Q4_K_M"; empty = none is admitted
        std::optional<std::size_t> instead;  ///< what the change gives
        QStringList limit_words;             ///< "memory at most 8.06 GiB"; empty where limits do not help
        QMap<QString, QString> limits;       ///< the same for set_limit()
    };
    WhyNot why_not(std::size_t i) const;

    // ---- pins
    const std::vector<Pin>& pins() const { return pins_; }
    /// Pins it, or takes the pin off; false when all six are in use.
    bool toggle_pin(std::size_t i);
    void unpin(std::size_t pin);
    void clear_pins();
    std::optional<std::size_t> shown_as(const Pin& pin) const;

    /// "memwall recommend ..." or "memwall fit ..." with the limits.
    QString command() const;

  Q_SIGNALS:
    void searched();  ///< other candidates
    void decided();   ///< limits or balance moved
    void pins_changed();

  private:
    void start();
    void show_field();
    void decide();
    void find_nearest();

    Worker worker_;
    plan::Deployment open_;  ///< with free axes
    std::int64_t own_context_ = 0;
    Scope scope_ = Scope::one_model;
    quality::Lane lane_ = quality::Lane::mmlu_pro_written;
    QString searched_key_;
    std::shared_ptr<const devices::Field> field_;
    std::vector<std::optional<quality::Score>> published_;  // by model of the field
    double milliseconds_ = 0, decide_milliseconds_ = 0;

    std::vector<plan::Candidate> shown_;
    std::vector<std::uint32_t> model_of_;
    std::vector<double> scores_;
    std::size_t left_out_ = 0;

    QMap<QString, QString> texts_;  // of the limits, by option
    plan::Constraints limits_;
    double min_score_ = 0;
    bool context_chosen_ = false;
    std::vector<std::uint16_t> broken_;
    std::vector<bool> below_score_, on_front_;
    std::vector<std::uint32_t> admitted_, front_;
    std::vector<plan::Merits> merits_;
    std::array<double, plan::kGoals> wanted_{1.0 / 3, 1.0 / 3, 1.0 / 3};
    std::optional<std::size_t> nearest_;
    std::vector<Pin> pins_;
};

}  // namespace memwall::gui
