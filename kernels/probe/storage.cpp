#include "kernels/probe/storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "kernels/host/huge_buffer.h"
#include "kernels/host/thread_team.h"
#include "kernels/probe/deadline.h"
#include "kernels/probe/loops.h"
#include "kernels/probe/steal.h"

namespace memwall::kernels {
namespace {

constexpr std::size_t kBlock = std::size_t{4} << 20;
constexpr std::uint64_t kSmallest = 2 * kBlock;

struct File {
    int fd = -1;
    explicit File(int opened) : fd(opened) {}
    ~File() {
        if (fd >= 0) close(fd);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
};

std::string reason() {
    return std::strerror(errno);
}

/// A file without a name: whatever happens to this process, the space is given back.
int unnamed_file(const std::string& directory) {
    std::error_code failed;
    std::filesystem::create_directories(directory, failed);
    std::string name = directory + "/memwall-probe-XXXXXX";
    const int fd = mkstemp(name.data());
    if (fd < 0) throw Error("--storage", directory + ": " + reason(), "a folder to write to");
    unlink(name.c_str());
    return fd;
}

/// Bytes written: bytes that no file system or drive can compress.
std::uint64_t fill(int fd, std::uint64_t bytes, double seconds) {
    HugeBuffer block(kBlock);
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < kBlock / 8; ++i) block.as<std::uint64_t>()[i] = random();
    std::uint64_t written = 0;
    for (Rounds rounds(seconds, kSmallest / kBlock, 1 << 20); written < bytes && rounds.next();) {
        block.as<std::uint64_t>()[written / kBlock % (kBlock / 8)] = written;  // no two blocks alike
        if (write(fd, block.data(), kBlock) != static_cast<ssize_t>(kBlock)) break;
        written += kBlock;
        if (written % (16 * kBlock) == 0) fdatasync(fd);  // time spent is time on the device
    }
    return fsync(fd) == 0 ? written : 0;
}

/// Drops the file's pages; false when some stayed (other file systems may ignore the wish: tmpfs).
bool make_cold(int fd, std::uint64_t bytes) {
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    void* map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return false;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident((bytes + page - 1) / page);
    const bool known = mincore(map, bytes, resident.data()) == 0;
    munmap(map, bytes);
    const auto kept = std::count_if(resident.begin(), resident.end(), [](unsigned char r) { return r & 1; });
    return known && static_cast<std::size_t>(kept) * 50 <= resident.size();
}

bool read_all(int fd, std::uint64_t bytes, std::byte* to, bool advance) {
    for (std::uint64_t at = 0; at < bytes; at += kBlock)
        if (pread(fd, advance ? to + at : to, kBlock, static_cast<off_t>(at)) != static_cast<ssize_t>(kBlock))
            return false;
    return true;
}

/// One way to read the whole file; false when it cannot be done.
struct Way {
    const char* probe;
    const char* how;
    bool (*read)(int fd, std::uint64_t bytes, HugeBuffer& block);
};

bool read_buffered(int fd, std::uint64_t bytes, HugeBuffer& block) {
    return read_all(fd, bytes, block.data(), false);
}

bool read_direct(int fd, std::uint64_t bytes, HugeBuffer& block) {
    const File direct(open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDONLY | O_DIRECT));
    return direct.fd >= 0 && read_all(direct.fd, bytes, block.data(), false);
}

bool read_mapped(int fd, std::uint64_t bytes, HugeBuffer&) {
    void* map = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) return false;
    const std::uint64_t sum = kGenericLoops.read(map, bytes, kReadPatterns[0]);
    __asm__ volatile("" ::"r"(sum));
    munmap(map, bytes);
    return true;
}

bool load(int fd, std::uint64_t bytes, HugeBuffer&) {
    const HugeBuffer model(bytes);
    return read_all(fd, bytes, model.data(), true);
}

constexpr std::array<Way, 4> kWays = {{{"storage_buffered", "read() of 4 MiB", read_buffered},
                                       {"storage_direct", "O_DIRECT of 4 MiB", read_direct},
                                       {"storage_mmap", "touching a mapping in order", read_mapped},
                                       {"load", "read() into fresh memory", load}}};

}  // namespace

std::string default_storage_directory() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
        return std::string(cache) + "/memwall";
    if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/memwall";
    return "/var/tmp";
}

StorageProbe probe_storage(const std::string& directory, std::uint64_t bytes, double seconds) {
    const double end = wall_seconds() + seconds;
    StorageProbe probe;
    const File file(unnamed_file(directory));
    struct statvfs space {};
    if (fstatvfs(file.fd, &space) == 0)
        bytes = std::min<std::uint64_t>(bytes, space.f_bavail * std::uint64_t{space.f_frsize} / 4);
    probe.bytes = bytes < kSmallest ? 0 : fill(file.fd, bytes, seconds / 3);
    if (probe.bytes < kSmallest)
        throw Error("--storage", directory + " has no room for a file of 8 MiB", "a folder with free space");

    HugeBuffer block(kBlock);
    const CpuTicks before = read_cpu_ticks();
    for (const Way& way : kWays) probe.sets.push_back({way.probe, "B/s", way.how, 1, 0, {}});
    for (Rounds rounds(end - wall_seconds(), 3, 50); rounds.next();)
        for (std::size_t i = 0; i < kWays.size(); ++i) {
            const bool cold = make_cold(file.fd, probe.bytes);
            const double start = wall_seconds();
            if (!kWays[i].read(file.fd, probe.bytes, block)) continue;
            const double took = std::max(wall_seconds() - start, 1e-9);
            // What goes past the page cache does not care what is in it.
            const bool clean = cold || std::string_view(kWays[i].probe) == "storage_direct";
            probe.sets[i].samples.push_back({static_cast<double>(probe.bytes) / took, clean});
        }
    const double steal = steal_between(before, read_cpu_ticks());
    for (SampleSet& set : probe.sets) {
        set.steal = steal;
        if (set.samples.empty())
            probe.notes.push_back(fmt::format("{} not measured: {} does not allow it", set.probe, directory));
        else if (summarise(set).unclean > 0 && set.probe == "storage_buffered")
            probe.notes.push_back(fmt::format(
                "{} keeps files cached against the program's wish: its reads are of memory, not of a device",
                directory));
    }
    std::erase_if(probe.sets, [](const SampleSet& set) { return set.samples.empty(); });
    return probe;
}

}  // namespace memwall::kernels
