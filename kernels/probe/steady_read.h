// Whether memory still is as fast as it was: a short read beside every sample. On a shared host bandwidth
// moves by the minute, to half or twice as much; what is predicted from one minute's measurements says
// nothing about another's.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/probe/bandwidth.h"

namespace memwall::kernels {

/// When to stop trying for clean samples: noise of some seconds is waited for, another pace of memory is not.
struct Patience {
    int tries = 3;        ///< a sample
    double seconds = 10;  ///< and at least as long, if tries are shorter: a neighbour may be busy for some
};

/// Takes samples until `wanted` are clean: take() takes one and says whether threads had their cores, still()
/// whether memory is as it was, before and after; keep(clean) keeps it. False when tries ended before.
template <class Still, class Take, class Keep>
bool sample_steadily(int wanted, Patience patience, Still still, Take take, Keep keep) {
    const double start = wall_seconds();
    bool before = still();
    int clean = 0;
    for (int i = 0; clean < wanted; ++i) {
        if (i >= patience.tries * wanted && wall_seconds() - start >= patience.seconds) return false;
        const bool own = take();
        const bool after = still();
        keep(own && before && after);
        clean += own && before && after;
        before = after;
    }
    return true;
}

/// The pace of memory, from the rates of reads (B/s). The reference is the median of all reads since refer(),
/// as the first ones may have met a moment at the edge.
class Pace {
  public:
    static constexpr double kDrift = 0.05;  ///< what reads may differ from the reference by

    void refer(std::vector<double> reads);
    /// Are these within kDrift of the reference in their median, and has that wandered by at most half of it?
    bool still(const std::vector<double>& reads);
    double reference() const { return reference_; }
    double first() const { return first_; }  ///< the median of what refer() was given

  private:
    std::vector<double> reads_;
    double reference_ = 0, first_ = 0;
};

class SteadyRead {
  public:
    /// Short reads walk through `set`, which must outlive this and be larger than the last cache.
    SteadyRead(const WorkingSet& set, ThreadTeam& team);

    /// Reads many times for a new reference. What was lost is found again.
    void refer();
    /// Reads a few times: does memory keep its pace?
    bool still();

    /// Samples beside the reference; when that is lost only one, for the record.
    template <class Take, class Keep>
    void sample(int wanted, Take take, Keep keep) {
        if (lost_) {
            take();
            keep(false);
        } else {
            bool own = false;
            beside_.clear();
            lost_ = !sample_steadily(
                wanted, {}, [&] { return still(); }, [&] { return own = take(); },
                [&](bool clean) {
                    core_disturbed_ += !own;
                    memory_disturbed_ += own && !clean;
                    keep(clean);
                });
        }
    }

    double reference() const { return pace_.reference(); }
    /// Samples so far during which somebody else had a core; and others, beside which memory had another
    /// pace.
    int core_disturbed() const { return core_disturbed_; }
    int memory_disturbed() const { return memory_disturbed_; }
    /// The median of the reads beside the last sample() as a share of the first reference: what drifted
    /// since, within what is steady. 1 when that was lost.
    double pace() const;
    /// Too few samples were steady for the reference to be that of this minute.
    bool lost() const { return lost_; }

  private:
    double read();
    std::vector<double> reads(int count);

    const WorkingSet& set_;
    ThreadTeam& team_;
    const ReadPattern* pattern_ = nullptr;  ///< the fastest when the first reference was taken
    std::size_t window_ = 0, windows_ = 1, turn_ = 0;
    Pace pace_;
    std::vector<double> beside_;
    bool lost_ = false;
    int core_disturbed_ = 0, memory_disturbed_ = 0;
};

}  // namespace memwall::kernels
