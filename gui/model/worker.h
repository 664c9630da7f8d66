// Long work off the interface thread. The newest request wins: what is running is asked to stop, what waits
// is replaced, and an answer that comes late is dropped.
#pragma once

#include <QObject>
#include <QString>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace memwall::gui {

/// What a job sees of its run; both may be called from any thread.
class JobControl {
  public:
    /// Somebody cancelled, or asked for something newer.
    bool cancelled() const { return newest_->load(std::memory_order_relaxed) != generation_; }
    /// True while the job should go on.
    const std::atomic<bool>* stop_flag() const { return stop_.get(); }
    /// Share done, 0..1, and what is being done; may be called often.
    void progress(double share, const QString& what = {}) const { report_(share, what); }

    /// Runs `act` in the worker's owner's thread unless the job is stale by then: for parts of an answer.
    void post(std::function<void()> act) const { post_(std::move(act)); }

  private:
    friend class Worker;
    std::function<void(std::function<void()>)> post_;
    std::shared_ptr<std::atomic<std::uint64_t>> newest_;
    std::shared_ptr<std::atomic<bool>> stop_;  ///< true = stop
    std::uint64_t generation_ = 0;
    std::function<void(double, const QString&)> report_;
};

class Worker : public QObject {
    Q_OBJECT
  public:
    explicit Worker(QObject* parent = nullptr);
    ~Worker() override;  ///< asks the running job to stop and waits for it

    /// Runs job(control) in the worker's thread, then deliver(answer) in this object's thread; failed() if it
    /// threw.
    template <class Job, class Deliver>
    void submit(Job job, Deliver deliver) {
        start([job = std::move(job),
               deliver = std::move(deliver)](const JobControl& control) mutable -> std::function<void()> {
            auto answer = std::make_shared<decltype(job(control))>(job(control));
            return [deliver, answer] { deliver(std::move(*answer)); };
        });
    }
    void cancel();
    bool busy() const { return busy_; }

  Q_SIGNALS:
    void busy_changed(bool busy);
    void progressed(double share, const QString& what);
    void failed(const QString& message);

  private:
    using Task = std::function<std::function<void()>(const JobControl&)>;
    void start(Task task);
    void run();
    void set_busy(bool busy);

    std::shared_ptr<std::atomic<std::uint64_t>> newest_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    std::shared_ptr<std::atomic<bool>> stop_;  // of the running job
    std::mutex mutex_;
    std::condition_variable wake_;
    Task waiting_;
    bool quit_ = false, busy_ = false;
    std::thread thread_;
};

}  // namespace memwall::gui
