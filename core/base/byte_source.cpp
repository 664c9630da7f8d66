#include "core/base/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace memwall {
namespace {

class SpanSource : public ByteSource {
  public:
    SpanSource(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
    std::uint64_t size() const override { return bytes_.size(); }
    const std::string& name() const override { return name_; }
    std::span<const std::byte> view(std::uint64_t offset, std::uint64_t length) const override {
        if (offset > bytes_.size() || length > bytes_.size() - offset)
            throw Error(fmt::format("{}@{}", name_, offset),
                        fmt::format("{} bytes wanted, {} left", length,
                                    offset > bytes_.size() ? 0 : bytes_.size() - offset),
                        "a complete file");
        return bytes_.subspan(offset, length);
    }

  protected:
    std::span<const std::byte> bytes_;
    std::string name_;
};

class MappedFile : public SpanSource {
  public:
    MappedFile(void* at, std::size_t size, const std::string& path)
        : SpanSource({static_cast<const std::byte*>(at), size}, path), at_(at), mapped_(size) {}
    ~MappedFile() override {
        if (at_) munmap(at_, mapped_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

  private:
    void* at_;
    std::size_t mapped_;
};

}  // namespace

std::unique_ptr<ByteSource> open_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw Error(path, fmt::format("cannot open: {}", std::strerror(errno)));
    struct stat st {};
    if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        ::close(fd);
        throw Error(path, "not a regular file", "a file");
    }
    const auto size = static_cast<std::size_t>(st.st_size);
    void* at = nullptr;
    if (size > 0) {
        at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED) {
            const int why = errno;
            ::close(fd);
            throw Error(path, fmt::format("cannot map: {}", std::strerror(why)));
        }
    }
    ::close(fd);
    return std::make_unique<MappedFile>(at, size, path);
}

std::unique_ptr<ByteSource> bytes_source(std::span<const std::byte> bytes, std::string name) {
    return std::make_unique<SpanSource>(bytes, std::move(name));
}

std::string read_text_file(const std::string& path, std::uint64_t limit) {
    const auto source = open_file(path);
    if (source->size() > limit)
        throw Error(path, fmt::format("{} bytes", source->size()),
                    fmt::format("at most {} bytes of text", limit));
    const auto bytes = source->view(0, source->size());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace memwall
