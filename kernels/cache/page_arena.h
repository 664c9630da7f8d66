// Where the bytes of cache pages live: memory in huge pages, or a file that is mapped. A block is one page
// for every (layer, KV head); the pages of one (layer, KV head) stand side by side, so that consecutive
// blocks are one stream for attention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/memory/page_pool.h"
#include "kernels/host/huge_buffer.h"

namespace memwall::kernels {

class PageArena {
  public:
    /// `streams` = layers x KV heads. In memory when `folder` is empty, else in a file without a name in that
    /// folder, whose room is allocated at once: a full disk is an Error here, not a signal later.
    /// Throws Error when a count is not positive, the bytes exceed 2^46 or the free space of the folder's
    /// file system, or the system gives no memory.
    PageArena(std::int64_t streams, std::int64_t blocks, std::size_t page_bytes, const std::string& folder);
    ~PageArena();
    PageArena(PageArena&& other) noexcept;
    PageArena& operator=(PageArena&&) = delete;

    std::byte* page(std::int64_t stream, memory::PageId block) const {
        return data_ + (static_cast<std::size_t>(stream) * static_cast<std::size_t>(blocks_) +
                        static_cast<std::size_t>(block)) *
                           page_bytes_;
    }
    std::int64_t blocks() const { return blocks_; }
    std::size_t bytes() const { return bytes_; }
    std::span<const std::byte> memory() const { return {data_, bytes_}; }
    bool in_file() const { return file_ >= 0; }

    /// Copies a whole block of every stream.
    void copy_block(memory::PageId from, memory::PageId to) const;
    /// File only: writes what changed and gives the memory back; pages come in again when they are read.
    void give_memory_back() const;

  private:
    std::int64_t streams_ = 0, blocks_ = 0;
    std::size_t page_bytes_ = 0, bytes_ = 0;
    HugeBuffer memory_;
    int file_ = -1;
    std::byte* data_ = nullptr;
};

}  // namespace memwall::kernels
