#include "gui/model/worker.h"

namespace memwall::gui {

Worker::Worker(QObject* parent) : QObject(parent), thread_([this] { run(); }) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
        waiting_ = nullptr;
        ++*newest_;
        if (stop_) *stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Worker::start(Task task) {
    {
        const std::lock_guard lock(mutex_);
        ++*newest_;
        if (stop_) *stop_ = true;
        waiting_ = std::move(task);
    }
    wake_.notify_one();
    set_busy(true);
}

void Worker::cancel() {
    {
        const std::lock_guard lock(mutex_);
        ++*newest_;
        if (stop_) *stop_ = true;
        waiting_ = nullptr;
    }
    set_busy(false);
}

void Worker::set_busy(bool busy) {
    if (busy_ == busy) return;
    busy_ = busy;
    Q_EMIT busy_changed(busy);
}

void Worker::run() {
    for (;;) {
        Task task;
        JobControl control;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return quit_ || waiting_; });
            if (quit_) return;
            task = std::exchange(waiting_, nullptr);
            stop_ = std::make_shared<std::atomic<bool>>(false);
            control.stop_ = stop_;
            control.newest_ = newest_;
            control.generation_ = newest_->load();
        }
        const auto post = [this, generation = control.generation_](std::function<void()> act) {
            QMetaObject::invokeMethod(
                this,
                [this, generation, act = std::move(act)] {
                    if (newest_->load() == generation) act();
                },
                Qt::QueuedConnection);
        };
        control.post_ = post;
        control.report_ = [this, post](double share, const QString& what) {
            post([this, share, what] { Q_EMIT progressed(share, what); });
        };
        std::function<void()> deliver;
        try {
            deliver = task(control);
        } catch (const std::exception& e) {
            deliver = [this, message = QString::fromUtf8(e.what())] { Q_EMIT failed(message); };
        }
        post([this, deliver] {
            set_busy(false);
            deliver();
        });
    }
}

}  // namespace memwall::gui
