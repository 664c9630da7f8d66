// A scenario made ready to run: its plan, and the sizes that follow from it. Shared by all replications.
#pragma once

#include <cstdint>
#include <string>

#include "devices/planning.h"
#include "sim/result/result.h"
#include "sim/scenario.h"

namespace memwall::sim {

struct Setup {
    Scenario scenario;  ///< with every default filled in
    devices::Planned planned;
    StoreSettings store;
    double token_bytes = 0;           ///< of one token in the pool
    std::int64_t sequence_bytes = 0;  ///< beside it, for each sequence that may run: windows, recurrent state
    MemoryClasses fixed;              ///< weights and scratch while loaded, the system
    bool spread = false;              ///< over a card and the host; the bytes above are those of both
    // What of it is in the host's memory, where others want room: without a card, all.
    std::int64_t mapped = 0;      ///< pages of the file that steps read
    double mapped_share = 0;      ///< of the weights that steps read there
    std::int64_t host_fixed = 0;  ///< the rest, cache left out
    double host_cache = 1;        ///< share of the cache
    std::int64_t card_bytes = 0;  ///< what the engine takes of a card at its start, its whole pool included
    std::int64_t file_bytes = 0;  ///< read by a load
    double load_seconds = 0;      ///< with nothing of the file in the page cache
    double tokenization = 0;      ///< seconds a prompt token, before it queues
    double storage = 0;           ///< bytes/s
    double copy_bandwidth = 0;    ///< bytes/s of the memory, for caches that move
    std::string prefix_note;      ///< why a prefix cache is of no use here; empty = it is
};

/// Plans the deployment and sizes the pool. Throws Error for what cannot run or is not simulated.
Setup prepare(Scenario scenario);

}  // namespace memwall::sim
