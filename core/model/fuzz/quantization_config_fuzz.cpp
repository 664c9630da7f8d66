#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/model/quantization_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        memwall::model::read_quantization_config({reinterpret_cast<const char*>(data), size}, "fuzz");
    } catch (const memwall::Error&) {
    }
    return 0;
}
