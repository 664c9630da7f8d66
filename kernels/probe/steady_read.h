// Whether memory still is as fast as it was: a short read beside every sample. On a shared host bandwidth
// moves by the minute, to half or twice as much; what is predicted from one minute's measurements says
// nothing about another's.
#pragma once

#include <cstddef>

#include "kernels/probe/bandwidth.h"

namespace memwall::kernels {

class SteadyRead {
  public:
    static constexpr double kDrift = 0.05;  ///< what a read may differ from the reference by

    /// Short reads walk through `set`, which must outlive this and be larger than the last cache.
    SteadyRead(const WorkingSet& set, ThreadTeam& team);

    /// Takes a new reference: the median of many reads, B/s. What was lost is found again.
    void refer();
    /// Reads a few times: still within kDrift of the reference?
    bool still();

    double reference() const { return reference_; }
    /// Set by who takes samples: too few of them were steady for the reference to be that of this minute.
    bool lost = false;

  private:
    double read();
    double median(int reads);

    const WorkingSet& set_;
    ThreadTeam& team_;
    const ReadPattern* pattern_ = nullptr;  ///< the fastest when the first reference was taken
    std::size_t window_ = 0, windows_ = 1, turn_ = 0;
    double reference_ = 0;
};

}  // namespace memwall::kernels
