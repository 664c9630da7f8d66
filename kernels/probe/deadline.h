// How long a probe may take, and how far the whole of them is.
#pragma once

#include <functional>
#include <string_view>

#include "kernels/host/thread_team.h"

namespace memwall::kernels {

/// Rounds of a probe: at least `least`, then on until the time is up, at most `most`.
class Rounds {
  public:
    Rounds(double seconds, int least, int most)
        : end_(wall_seconds() + seconds), least_(least), most_(most) {}
    bool next() { return ++done_ <= least_ || (done_ <= most_ && wall_seconds() < end_); }

  private:
    double end_;
    int least_, most_, done_ = 0;
};

/// Told what is being measured and the share of all that is done, 0..1.
using Progress = std::function<void(std::string_view what, double share)>;

}  // namespace memwall::kernels
