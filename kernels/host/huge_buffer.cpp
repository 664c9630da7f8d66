#include "kernels/host/huge_buffer.h"

#include <sys/mman.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/base/error.h"

namespace memwall::kernels {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}

HugeBuffer::HugeBuffer(std::size_t bytes) : bytes_(bytes) {
    map_bytes_ = (bytes + 2 * kHugePage - 1) / kHugePage * kHugePage;
    map_ = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map_ == MAP_FAILED || map_bytes_ < bytes) {
        map_ = nullptr;
        throw Error("memory", "no room for " + std::to_string(bytes) + " bytes", "a smaller working set");
    }
    const auto start = reinterpret_cast<std::uintptr_t>(map_);
    data_ = reinterpret_cast<std::byte*>((start + kHugePage - 1) / kHugePage * kHugePage);
    madvise(data_, bytes_, MADV_HUGEPAGE);  // advice only: without it the buffer works on small pages
}

HugeBuffer::~HugeBuffer() {
    if (map_ != nullptr) munmap(map_, map_bytes_);
}

std::size_t HugeBuffer::huge_bytes() const {
    std::ifstream smaps("/proc/self/smaps");
    const auto first = reinterpret_cast<std::uintptr_t>(data_);
    const auto last = first + bytes_;
    std::size_t huge = 0;
    bool ours = false;
    for (std::string line; std::getline(smaps, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (const auto dash = word.find('-'); dash != std::string::npos && word.back() != ':') {
            const auto from = std::stoull(word.substr(0, dash), nullptr, 16);
            const auto to = std::stoull(word.substr(dash + 1), nullptr, 16);
            ours = from < last && to > first;
        } else if (ours && word == "AnonHugePages:") {
            std::size_t kib = 0;
            words >> kib;
            huge += kib * 1024;
        }
    }
    return huge < bytes_ ? huge : bytes_;
}

}  // namespace memwall::kernels
