// config.json of Hugging Face; a model that was read also prints and counts itself.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/model/hugging_face.h"
#include "core/model/model_yaml.h"

using namespace memwall;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const model::Model m = model::read_hf_config({reinterpret_cast<const char*>(data), size}, "fuzz");
        if (model::checkpoint_parameters(m) < model::active_parameters(m)) __builtin_trap();
        model::write_model_yaml(m);
    } catch (const Error&) {
    }
    return 0;
}
