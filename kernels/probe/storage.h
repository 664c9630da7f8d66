// How fast a file comes into memory that is in no cache yet: what a cold start and weights beyond RAM wait
// for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/probe/samples.h"

namespace memwall::kernels {

struct StorageProbe {
    /// "storage_buffered": read() into one small buffer; "storage_direct": O_DIRECT, past the page cache;
    /// "storage_mmap": a mapping whose pages are touched in order; "load": read() into fresh memory, first
    /// touch included. B/s. A sample is unclean when the system kept parts of the file cached.
    std::vector<SampleSet> sets;
    std::vector<std::string> notes;  ///< what could not be measured and why
    std::uint64_t bytes = 0;         ///< of the file
};

/// $XDG_CACHE_HOME/memwall, else ~/.cache/memwall, else /var/tmp.
std::string default_storage_directory();

/// Writes a file of at most `bytes` (less when writing takes longer than a third of the time, or a quarter of
/// the free space is less), reads it back in every way and removes it; an aborted run leaves none. Throws
/// Error (place
/// "--storage") when the directory cannot be written to.
StorageProbe probe_storage(const std::string& directory, std::uint64_t bytes, double seconds);

}  // namespace memwall::kernels
