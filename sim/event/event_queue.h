// Events in the order of their time; those of the same nanosecond in the order in which they were scheduled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/event/clock.h"

namespace memwall::sim {

/// A binary heap keyed (time, number of the event). What is scheduled at kNever is dropped.
template <class What>
class EventQueue {
  public:
    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    Nanoseconds now() const { return now_; }
    /// Time of the next event; kNever without one.
    Nanoseconds next() const { return heap_.empty() ? kNever : heap_.front().time; }

    /// Throws std::logic_error for a time that has passed.
    void schedule(Nanoseconds time, What what) {
        if (time < now_) throw std::logic_error("event queue: an event in the past");
        if (time == kNever) return;
        heap_.push_back({time, number_++, std::move(what)});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    /// Takes the next event and moves the clock to it.
    What pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        Entry entry = std::move(heap_.back());
        heap_.pop_back();
        now_ = entry.time;
        return std::move(entry.what);
    }

    /// Moves the clock where nothing is scheduled before `time`.
    void advance(Nanoseconds time) {
        if (time < now_ || time > next()) throw std::logic_error("event queue: an event would be missed");
        now_ = time;
    }

  private:
    struct Entry {
        Nanoseconds time;
        std::uint64_t number;
        What what;
    };
    static bool later(const Entry& a, const Entry& b) {
        return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
    std::vector<Entry> heap_;
    std::uint64_t number_ = 0;
    Nanoseconds now_ = 0;
};

}  // namespace memwall::sim
