// Memory the way the kernels want it: aligned to 2 MiB and advised to be backed by huge pages before the
// first touch (KERNELS section 3). Never throws std::bad_alloc: a refusal is an Error saying how much was
// asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace memwall::kernels {

/// Owns `bytes()` bytes of zeroed anonymous memory, 2 MiB aligned. Movable, not copyable.
class HugeBuffer {
  public:
    HugeBuffer() = default;
    /// Throws Error when the system gives no mapping of this size.
    explicit HugeBuffer(std::size_t bytes);
    HugeBuffer(HugeBuffer&& other) noexcept { swap(other); }
    HugeBuffer& operator=(HugeBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~HugeBuffer();

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    template <class T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }
    /// Bytes of this buffer that the kernel backs with huge pages now (AnonHugePages of /proc/self/smaps).
    std::size_t huge_bytes() const;

  private:
    void swap(HugeBuffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(map_, other.map_);
        std::swap(map_bytes_, other.map_bytes_);
    }
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    void* map_ = nullptr;
    std::size_t map_bytes_ = 0;
};

}  // namespace memwall::kernels
