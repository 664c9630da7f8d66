// Raw samples of probes in JSON documents, so that a verdict can be computed again (KERNELS section 6).
#pragma once

#include <vector>

#include "core/view/json_parts.h"
#include "kernels/probe/samples.h"

namespace memwall::cli {

/// One object a set: probe, threads, how, unit, and values beside whether each was undisturbed.
inline view::Json samples_json(const std::vector<kernels::SampleSet>& sets) {
    view::Json all = view::Json::array();
    for (const kernels::SampleSet& set : sets) {
        view::Json values = view::Json::array(), clean = view::Json::array();
        for (const kernels::Sample& s : set.samples) {
            values.push_back(s.value);
            clean.push_back(s.clean);
        }
        all.push_back({{"probe", set.probe},
                       {"threads", set.threads},
                       {"how", set.how},
                       {"unit", set.unit},
                       {"values", std::move(values)},
                       {"clean", std::move(clean)}});
    }
    return all;
}

}  // namespace memwall::cli
