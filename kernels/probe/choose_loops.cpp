#include "kernels/probe/choose_loops.h"

#include <algorithm>
#include <initializer_list>

#include "devices/isa.h"

namespace memwall::kernels {
namespace {

/// The widest first. `needs` are names of devices/isa.h.
struct Choice {
    const ProbeLoops* loops;
    std::initializer_list<const char*> needs;
};

const Choice kChoices[] = {
#if defined(__x86_64__)
    {&kAvx512VnniLoops, {"avx512f", "avx512bw", "avx512_vnni"}},
    {&kAvx512Loops, {"avx512f", "avx512bw"}},
    {&kAvx2VnniLoops, {"avx2", "fma", "avx_vnni"}},
    {&kAvx2Loops, {"avx2", "fma"}},
#elif defined(__aarch64__)
    {&kNeonDotLoops, {"neon", "dotprod"}},
    {&kNeonLoops, {"neon"}},
#endif
    {&kGenericLoops, {}},
};

bool runs(const Choice& choice, const std::vector<std::string>& isa) {
    return std::all_of(choice.needs.begin(), choice.needs.end(), [&](const char* name) {
        return std::find(isa.begin(), isa.end(), name) != isa.end();
    });
}

}  // namespace

std::vector<const ProbeLoops*> all_probe_loops(const std::vector<std::string>& isa) {
    std::vector<const ProbeLoops*> list;
    for (const Choice& choice : kChoices)
        if (runs(choice, isa)) list.push_back(choice.loops);
    return list;
}

const ProbeLoops& probe_loops() {
    return *all_probe_loops(devices::host_isa()).front();
}

}  // namespace memwall::kernels
