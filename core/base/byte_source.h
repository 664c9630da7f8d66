// Where readers get bytes from: a file, memory, later a range of a URL. Core knows nothing else of the world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace memwall {

class ByteSource {
  public:
    virtual ~ByteSource() = default;
    virtual std::uint64_t size() const = 0;
    /// `length` bytes at `offset`, valid while the source lives. Throws Error when the range leaves the
    /// source.
    virtual std::span<const std::byte> view(std::uint64_t offset, std::uint64_t length) const = 0;
    /// Name for messages, usually the path.
    virtual const std::string& name() const = 0;
};

/// A memory-mapped file. Throws Error when it cannot be opened or is no regular file.
std::unique_ptr<ByteSource> open_file(const std::string& path);

/// Bytes held by the caller (tests, fuzzers, fetched headers); `bytes` must outlive the source.
std::unique_ptr<ByteSource> bytes_source(std::span<const std::byte> bytes, std::string name);

/// The whole file as text, at most `limit` bytes. Throws Error naming the file otherwise.
std::string read_text_file(const std::string& path, std::uint64_t limit = std::uint64_t{64} << 20);

}  // namespace memwall
