// How long the engine should take: the sum over its operations of what each costs on this host.
//
//   matrix product   bytes of panels x seconds a byte; one row: bandwidth-bound, with a start for each
//   matrix;
//                    many: compute-bound
//   attention        fixed + pages x seconds a page
//   between them     elements x seconds, on one thread when there is one token, else shared
//   barriers         as many as layer.cpp has
#pragma once

#include <cstdint>

#include "core/model/model.h"
#include "kernels/engine/decoder.h"
#include "kernels/engine/weight_source.h"
#include "kernels/verify_rates.h"

namespace memwall::kernels {

/// Bytes one decoded token reads at a position, weights and cache, and what it takes.
struct DecodePrediction {
    double seconds = 0, weight_bytes = 0, kv_bytes = 0;
};
DecodePrediction predict_decode(const RatesRequest& request, const HostRates& rates, int threads,
                                std::int64_t position);

/// n tokens of a prompt in chunks, after `first` that are in the cache, to the logits of the last one.
double predict_prefill(const RatesRequest& request, const HostRates& rates, int threads, std::int64_t n,
                       std::int64_t first = 0);

}  // namespace memwall::kernels
