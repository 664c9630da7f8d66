// An app: a stream of sessions that use the model. A session is one or several turns; a turn is one request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/workload/arrivals.h"
#include "sim/workload/law.h"
#include "sim/workload/trace.h"

namespace memwall::sim {

struct App {
    std::string name;
    int priority = 0;  ///< higher goes first
    double users = 1;  ///< multiplies the rate of arrivals
    Arrivals arrivals;
    Law prompt = always(256);  ///< new tokens of a turn, the shared prefix left out
    Law output = always(128);
    Law turns = always(1);
    Law think = always(0);           ///< seconds from the end of an answer to the next turn
    std::int64_t shared_prefix = 0;  ///< tokens that begin every session of this app: its instructions
    std::int64_t max_output = 0;     ///< what the app asks for at most; 0 = what the context leaves
    bool keeps_history = true;       ///< a turn's prompt begins with all turns before it
    std::shared_ptr<const std::vector<TraceRequest>> trace;
    std::string trace_file;
};

/// One turn, as it arrives.
struct Turn {
    std::int64_t prompt = 1;   ///< all its tokens: prefix, history, new ones
    std::int64_t output = 1;   ///< the true length, which no scheduler may read
    std::int64_t limit = 0;    ///< what it may generate at most; 0 = what the context leaves
    std::uint64_t prefix = 0;  ///< name of the tokens shared by the app's sessions
    std::int64_t prefix_tokens = 0;
    std::uint64_t content = 0;                           ///< name of the session's own tokens
    const std::vector<std::uint64_t>* blocks = nullptr;  ///< of a trace, instead of the two names
};

/// A running session: what its turns are follows from the seed, the app and the session's number alone,
/// whatever the scheduler does.
class Session {
  public:
    Session(const App& app, std::size_t app_index, std::uint64_t number, std::uint64_t seed);
    bool over() const { return left_ == 0; }
    /// The next turn; the history is what the turns before came to.
    Turn next();
    /// Seconds until the user asks again.
    double think();
    /// The answer had this many tokens (fewer than asked for when it was cut short).
    void answered(std::int64_t prompt, std::int64_t output) { history_ = prompt + output; }

  private:
    const App* app_;
    Random random_;
    std::uint64_t prefix_, content_;
    std::int64_t left_ = 0, history_ = 0;
    const TraceRequest* recorded_ = nullptr;
};

/// Names of the full blocks of the first `tokens` tokens of a turn, chained: equal names mean equal prefixes.
/// Appends to `names`, which holds those of the blocks before.
void name_blocks(const Turn& turn, std::int64_t tokens, std::int64_t block_tokens,
                 std::vector<std::uint64_t>& names);

}  // namespace memwall::sim
