#include "core/quality/kv_rules.h"

#include <algorithm>

namespace memwall::quality {
namespace {

struct Rule {
    KvClass type;
    bool rotated;  ///< true: only this row where a rotation is used
    Status status;
    Reason reason;
    std::uint16_t flags;
    Band kld;
};

// q8_0: 0.001 to 0.007 for both (q1404, q1429), shared as keys 9.4e-4 : values 7.4e-4 (q1402, q1400); the
// central value is the geometric mean of the two rows. A single row has the band of the weight fit, x/1.75.
// clang-format off
constexpr Rule kKeys[] = {
    {KvClass::q8,   false, Status::estimated, Reason::none, 0, {0.00056, 0.00144, 0.0039}},
    {KvClass::int8, false, Status::bounded, Reason::none, 0, {0.00056, 0.00144, 0.0039}},        // q1494: MMLU -0.1
    {KvClass::fp8,  false, Status::bounded, Reason::none, 0, {0.0001, 0.0078, 0.024}},           // q1456 to q1472
    {KvClass::q5,   false, Status::bounded, Reason::none, kOneRow, {0.0045, 0.0079, 0.0138}},    // q1415
    {KvClass::q5,   true,  Status::bounded, Reason::none, kOneRow, {0.0015, 0.0026, 0.0046}},    // q1416
    {KvClass::q4,   false, Status::refused, Reason::kv_keys_unrotated, 0, {}},                   // q1417: +11 %
    {KvClass::q4,   true,  Status::bounded, Reason::none, 0, {0.0052, 0.0092, 0.022}},           // q1418, q1421
    {KvClass::int4, false, Status::refused, Reason::kv_keys_unrotated, 0, {}},
};
constexpr Rule kValues[] = {
    {KvClass::q8,   false, Status::estimated, Reason::none, 0, {0.00044, 0.00113, 0.0031}},
    {KvClass::int8, false, Status::bounded, Reason::none, 0, {0.00044, 0.00113, 0.0031}},
    {KvClass::fp8,  false, Status::bounded, Reason::none, 0, {0.0001, 0.0061, 0.018}},
    {KvClass::q5,   false, Status::bounded, Reason::none, kOneRow, {0.001, 0.00176, 0.0031}},    // q1410
    {KvClass::q4,   false, Status::bounded, Reason::none, 0, {0.00176, 0.0069, 0.027}},          // above q5_1; q4 of keys and values at most +2.7 % (q1469)
    {KvClass::int4, false, Status::refused, Reason::kv_without_rows, 0, {}},
};
// clang-format on

template <std::size_t N>
const Rule* find(const Rule (&rules)[N], KvClass type, bool rotation) {
    const Rule* found = nullptr;
    for (const Rule& r : rules)
        if (r.type == type && (!r.rotated || rotation)) found = &r;
    return found;
}

void add(KvEffect& e, const Rule* rule) {
    if (!rule) return;
    e.status = std::max(e.status, rule->status);
    if (e.reason == Reason::none) e.reason = rule->reason;
    e.flags |= rule->flags;
    e.kld = {e.kld.low + rule->kld.low, e.kld.central + rule->kld.central, e.kld.high + rule->kld.high};
}

bool below_8_bits(KvClass c) {
    return c > KvClass::fp8;
}

// A cache of 8 bits on a family with a known problem, or below the size that the rows cover: gpt-oss-20b had
// a median KLD of 0.055 with q8_0 (q1435).
constexpr double kFragileKld = 0.055;
constexpr double kSoundBillions = 3;

}  // namespace

KvEffect kv_effect(KvClass keys, KvClass values, bool rotation, bool fragile, double billions) {
    KvEffect e;
    if (keys == KvClass::full && values == KvClass::full) return e;
    const bool low = below_8_bits(keys) || below_8_bits(values);
    if (fragile && low) {
        e.status = Status::refused;
        e.reason = Reason::kv_fragile_family;
        e.flags = kKvFragile;
        return e;
    }
    add(e, find(kKeys, keys, rotation));
    add(e, find(kValues, values, rotation));
    if (low) e.flags |= kLongRetrieval;
    if (e.status != Status::refused && (fragile || billions < kSoundBillions)) {
        e.status = std::max(e.status, Status::bounded);
        e.flags |= kKvFragile;
        e.kld.high = std::max(e.kld.high, kFragileKld);
    }
    return e;
}

}  // namespace memwall::quality
