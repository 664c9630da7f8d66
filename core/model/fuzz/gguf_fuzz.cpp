// libFuzzer entry: any bytes either read as a model or throw Error, and nothing else happens.
// Build with the `fuzz` preset: link with memwall_core and -fsanitize=fuzzer,address,undefined.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/model/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto source =
        memwall::bytes_source(std::as_bytes(std::span<const std::uint8_t>(data, size)), "fuzz.gguf");
    try {
        memwall::model::model_from_gguf(memwall::model::parse_gguf(*source), "fuzz");
    } catch (const memwall::Error&) {
        // the expected answer to most inputs
    }
    return 0;
}
