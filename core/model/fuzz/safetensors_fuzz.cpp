// The header of a safetensors file and, for input that starts with '{', an index of shards.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/model/checkpoint_tensors.h"
#include "core/model/safetensors.h"
#include "core/model/safetensors_set.h"

using namespace memwall;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        if (size > 0 && data[0] == '{') {
            model::parse_safetensors_index({reinterpret_cast<const char*>(data), size}, "fuzz");
            return 0;
        }
        const auto source = bytes_source(std::as_bytes(std::span(data, size)), "fuzz");
        model::SafetensorsSet set;
        set.files.push_back(model::parse_safetensors(*source));
        model::QuantizationConfig four_bit;
        four_bit.bits = 4;
        model::Model model;
        model.layers.resize(4);
        model::take_checkpoint_tensors(model, set, &four_bit);
    } catch (const Error&) {
    }
    return 0;
}
