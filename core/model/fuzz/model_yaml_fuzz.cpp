// memwall/model/1: what reads must write, and read back as the same text.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/model/model_yaml.h"

using namespace memwall;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string text;
    try {
        text = model::write_model_yaml(
            model::read_model_yaml({reinterpret_cast<const char*>(data), size}, "fuzz"));
    } catch (const Error&) {
        return 0;
    }
    // Text that we wrote must be good: an Error from here on is a finding.
    if (model::write_model_yaml(model::read_model_yaml(text, "written")) != text) __builtin_trap();
    return 0;
}
