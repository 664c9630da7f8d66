// What the small engine is asked to do.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cache/kv_cache.h"
#include "kernels/panels/formats.h"

namespace memwall::kernels {

struct EngineSettings {
    std::int64_t context = 2048;  ///< tokens a sequence may hold
    std::int64_t sequences = 1;
    std::int64_t chunk = 128;  ///< tokens that go through the layers together in prefill
    KvKind kv = kKvKinds[1];
    KvSettings::Layout layout = KvSettings::Layout::paged;
    std::string kv_folder;  ///< the file of the caches; empty = memory
    int digits = 1;         ///< of activations: 1 (A8) or 2 (A16)
    int kv_digits = 2;      ///< of queries and probabilities over int8 and int4 caches
    // Models without a file: formats of the linear layers and of the token table and output. Routers are
    // f16, norms and biases f32.
    PanelFormat linear = PanelFormat::w4g32;
    PanelFormat table = PanelFormat::w8g32;
};

}  // namespace memwall::kernels
