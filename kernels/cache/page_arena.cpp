#include "kernels/cache/page_arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace memwall::kernels {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

std::size_t checked_bytes(std::int64_t streams, std::int64_t blocks, std::size_t page_bytes) {
    std::uint64_t bytes = 0;
    if (streams <= 0 || blocks <= 0 || page_bytes == 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(streams), static_cast<std::uint64_t>(blocks),
                               &bytes) ||
        __builtin_mul_overflow(bytes, page_bytes, &bytes) || bytes > kMostBytes)
        throw Error("kv cache",
                    std::to_string(blocks) + " blocks of " + std::to_string(streams) + " pages of " +
                        std::to_string(page_bytes) + " bytes",
                    "at least one of each, and 2^46 bytes at the most");
    return bytes;
}

/// A file that nobody can open and that is gone when we are.
int unnamed_file(const std::string& folder) {
    int file = -1;
#ifdef O_TMPFILE
    file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (file < 0) {  // not every file system has files without names
        std::string path = folder + "/memwall-kv-XXXXXX";
        file = mkstemp(path.data());
        if (file >= 0) unlink(path.c_str());
    }
    if (file < 0)
        throw Error("kv cache", "'" + folder + "': " + std::strerror(errno),
                    "a folder to write the cache to");
    return file;
}

}  // namespace

PageArena::PageArena(std::int64_t streams, std::int64_t blocks, std::size_t page_bytes,
                     const std::string& folder)
    : streams_(streams),
      blocks_(blocks),
      page_bytes_(page_bytes),
      bytes_(checked_bytes(streams, blocks, page_bytes)) {
    if (folder.empty()) {
        memory_ = HugeBuffer(bytes_);
        data_ = memory_.data();
        return;
    }
    struct statvfs space {};
    if (statvfs(folder.c_str(), &space) == 0 && bytes_ > std::uint64_t{space.f_bavail} * space.f_frsize)
        throw Error("kv cache", std::to_string(bytes_) + " bytes for '" + folder + "'",
                    "at most the " + std::to_string(std::uint64_t{space.f_bavail} * space.f_frsize) +
                        " that are free");
    file_ = unnamed_file(folder);
    const int failed = posix_fallocate(file_, 0, static_cast<off_t>(bytes_));
    void* map =
        failed != 0 ? MAP_FAILED : mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (map == MAP_FAILED) {
        const int reason = failed != 0 ? failed : errno;
        close(std::exchange(file_, -1));
        throw Error("kv cache",
                    std::to_string(bytes_) + " bytes in '" + folder + "': " + std::strerror(reason),
                    "room for the cache");
    }
    data_ = static_cast<std::byte*>(map);
}

PageArena::PageArena(PageArena&& other) noexcept
    : streams_(other.streams_),
      blocks_(other.blocks_),
      page_bytes_(other.page_bytes_),
      bytes_(other.bytes_),
      memory_(std::move(other.memory_)),
      file_(std::exchange(other.file_, -1)),
      data_(std::exchange(other.data_, nullptr)) {}

PageArena::~PageArena() {
    if (file_ < 0) return;
    munmap(data_, bytes_);
    close(file_);
}

void PageArena::copy_block(memory::PageId from, memory::PageId to) const {
    for (std::int64_t s = 0; s < streams_; ++s) std::memcpy(page(s, to), page(s, from), page_bytes_);
}

void PageArena::give_memory_back() const {
    if (file_ < 0) return;
    msync(data_, bytes_, MS_SYNC);
    madvise(data_, bytes_, MADV_DONTNEED);
    posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace memwall::kernels
