// Published runs whose weights do not fit their device: layers left to the host, or pages read from storage.
// The whole planner predicts them, because placement decides them. Shared by the test and by the table of
// speed_fit.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/speed/points.h"
#include "tests/plan/planned.h"

namespace memwall::test {

struct SpilledRow {
    const speed::MeasuredPoint* point;
    Interval<PerSecond> decode;
    std::string_view bound;
    bool held() const {
        return point->decode_per_second >= decode.low.value && point->decode_per_second <= decode.high.value;
    }
};

inline std::vector<SpilledRow> predict_spilled(const speed::PointSet& set) {
    static const std::map<std::string, std::string> models{
        {"Qwen3-14B", "qwen3-14b"},         {"phi-4", "phi-4"},
        {"R1-Qwen-14B", "qwen2.5-14b"},     {"gemma-3-12b", "gemma-3-12b"},
        {"Codestral-22B", "codestral-22b"}, {"Mistral-Small-24B", "mistral-small-24b"},
        {"gemma-2-27b", "gemma-2-27b"},     {"gpt-oss-20b", "gpt-oss-20b"},
        {"Qwen3-30B-A3B", "qwen3-30b-a3b"}, {"Llama-2-7B", "llama-2-7b"},
        {"Llama-2-70B", "llama-2-70b"}};
    // The card's host was not published: plan() assumes a desktop's memory.
    static const std::map<std::string, std::string> devices{
        {"rtx2080",
         "vram=8GiB,bandwidth=448GB/s,fp32=10.1TFLOPS,fp16=40.3TFLOPS,class=nvidia_consumer,link=15.8GB/s"},
        {"m3", "apple-m3:16GiB"},
        {"m3max", "apple-m3-max:48GiB"}};
    std::vector<SpilledRow> rows;
    for (const speed::MeasuredPoint& p : set.points) {
        if (p.regime == speed::MeasuredPoint::Regime::resident || p.decode_per_second <= 0) continue;
        Options options{{"quant", p.quant}, {"context", "512"}};
        if (p.regime == speed::MeasuredPoint::Regime::offload) options.emplace_back("gpu-layers", "auto");
        const TestPlan t = make_test_plan(models.at(p.model), devices.at(p.device), options);
        Interval<PerSecond> decode = t.plan.speed.decode;
        if (p.regime == speed::MeasuredPoint::Regime::offload) {
            // The split was not published: anything from what surely fits to a full card.
            options.emplace_back("budget", "8GiB");
            decode.high =
                make_test_plan(models.at(p.model), devices.at(p.device), options).plan.speed.decode.high;
        }
        rows.push_back({&p, decode, t.plan.speed.bound});
    }
    return rows;
}

}  // namespace memwall::test
