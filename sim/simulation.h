// The state of a run. Private to sim/.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/event/event_queue.h"
#include "sim/event/station.h"
#include "sim/run.h"

namespace memwall::sim {

class Simulation : public SchedulerListener {
  public:
    Simulation(const Setup& setup, const RunOptions& options);
    RunResult run();

    void started(std::uint64_t ticket, std::int64_t cached) override;
    void produced(std::uint64_t ticket, std::int64_t tokens) override;
    void finished(std::uint64_t ticket, std::int64_t output, bool complete, Holding& holding) override;
    void preempted(std::uint64_t ticket, std::int64_t tokens, bool swapped) override;
    bool can_swap(std::int64_t tokens) override;
    Nanoseconds swapped_in(std::uint64_t ticket, std::int64_t tokens) override;
    bool make_room() override;

  private:
    enum class What : std::uint8_t {
        arrival,
        queue,
        turn,
        step,
        loaded,
        open,
        close,
        kill,
        wake,
        unload,
        hour,
        end
    };
    struct Event {
        What what = What::end;
        std::uint32_t which = 0;
        std::uint64_t epoch = 0;  ///< of the process or app it belongs to; stale ones are ignored
    };
    struct Record {  // a request on its way
        std::uint32_t app = 0, session = 0;
        Turn turn;
        std::uint64_t number = 0;
        Nanoseconds arrival = 0, begun = -1, first = -1, last = 0;
        std::int64_t emitted = 0;
        bool open = false, queued = false;
    };
    struct Live {  // a session
        std::optional<Session> session;
        std::uint32_t app = 0;
        Holding holding;               ///< kept
        std::int64_t packed = 0;       ///< tokens that the holding stands for, when compressed
        std::int64_t swapped = 0;      ///< tokens in the swap space
        std::uint64_t idle_order = 0;  ///< in idle_, 0 = not
    };

    void schedule(Nanoseconds at, What what, std::uint32_t which = 0, std::uint64_t epoch = 0) {
        events_.schedule(at, {what, which, epoch});
    }
    void handle(const Event& event);
    void account();
    double watts() const;
    void draw(double seconds, bool plugged);
    // Requests.
    void arrive(std::uint32_t app);
    void ask(std::uint32_t session);
    void queue(std::uint32_t record);
    void refuse(Record& record);
    void close_record(std::uint32_t record);
    void end_session(std::uint32_t session);
    void keep(std::uint32_t session, Holding& holding);
    std::uint32_t new_record();
    std::uint32_t new_session();
    Record& record(std::uint64_t ticket) { return records_[ticket - 1]; }
    // The engine.
    void try_step();
    void step_done();
    void begin_load();
    void lose_process(bool killed);
    // The device.
    void look_for_victim();
    OwnMemory own() const;
    MemoryClasses memory() const;
    void note_memory();
    void note_page_cache();
    bool room_on_card(std::int64_t bytes) const;
    bool off() const { return battery_.empty(); }
    double hour() const;
    void slice(const Record& r, std::string_view what, Nanoseconds from, Nanoseconds to);
    void check() const;
    RunResult finish();

    const Setup& setup_;
    const RunOptions& options_;
    RunResult result_;
    EventQueue<Event> events_;
    std::unique_ptr<StepExecutor> own_steps_;  ///< by the plan, unless the options bring another
    StepExecutor& executor_;
    std::unique_ptr<KvStore> store_;
    Scheduler scheduler_;
    std::vector<ArrivalStream> streams_;
    std::vector<std::uint64_t> sessions_begun_;
    std::uint64_t sessions_ended_ = 0;
    std::vector<Record> records_;
    std::vector<std::uint32_t> free_records_, free_sessions_;
    std::vector<Live> sessions_;
    std::map<std::uint64_t, std::uint32_t> idle_;  ///< kept sessions, the longest idle first
    std::uint64_t next_idle_ = 1, next_number_ = 1;
    Carrier swap_;
    std::int64_t swap_used_ = 0;  ///< tokens

    StepWork work_;
    bool stepping_ = false, loaded_ = false, loading_ = false;
    std::uint64_t epoch_ = 0;  ///< of the process
    Nanoseconds step_began_ = 0, last_ = 0, idle_since_ = 0, wake_ = kNever;
    Nanoseconds end_ = 0;
    double extra_ = 0;  ///< seconds that the next step takes longer: moves and unpacking
    double step_watts_ = 0;
    Carry carry_, load_carry_;
    std::int64_t in_system_ = 0, copied_seen_ = 0;
    long double in_system_integral_ = 0;  ///< request-nanoseconds
    /// The same, and the sum of all stays, modulo 2^64: what an endless crowd adds up to fits no integer, but
    /// equal sums stay equal.
    std::uint64_t occupancy_ = 0, stays_ = 0;

    Pressure pressure_;
    Thermal thermal_;
    Battery battery_;
    double refault_rate_ = 0;
    std::int64_t file_cached_ = 0;  ///< of the model's file, in the page cache
    bool waits_for_card_ = false;
    std::vector<Random> other_random_;
    std::vector<std::uint64_t> other_epoch_;
    bool kill_scheduled_ = false;
    std::array<double, 4> mean_bytes_{};  ///< byte-seconds of weights, KV, scratch, other apps
};

}  // namespace memwall::sim
