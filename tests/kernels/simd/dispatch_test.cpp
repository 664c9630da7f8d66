#include <map>
#include <string>

#include "kernels/simd/kernels.h"
#include "tests/catch.h"

using namespace memwall::kernels;

namespace {
using Feature = bool CpuFeatures::*;
const Feature kX86[] = {&CpuFeatures::avx2,     &CpuFeatures::fma,      &CpuFeatures::f16c,
                        &CpuFeatures::avx_vnni, &CpuFeatures::avx512f,  &CpuFeatures::avx512bw,
                        &CpuFeatures::avx512dq, &CpuFeatures::avx512vl, &CpuFeatures::avx512_vnni,
                        &CpuFeatures::os_ymm,   &CpuFeatures::os_zmm};
/// What the compiler may use in each table's translation unit: the flags of kernels/CMakeLists.txt.
const std::map<std::string, std::vector<Feature>> kNeeds = {
    {"scalar", {}},
    {"avx2", {&CpuFeatures::avx2, &CpuFeatures::fma, &CpuFeatures::f16c, &CpuFeatures::os_ymm}},
    {"avx-vnni",
     {&CpuFeatures::avx2, &CpuFeatures::fma, &CpuFeatures::f16c, &CpuFeatures::os_ymm,
      &CpuFeatures::avx_vnni}},
    {"avx512-vnni",
     {&CpuFeatures::avx2, &CpuFeatures::fma, &CpuFeatures::f16c, &CpuFeatures::os_ymm, &CpuFeatures::avx512f,
      &CpuFeatures::avx512bw, &CpuFeatures::avx512dq, &CpuFeatures::avx512vl, &CpuFeatures::avx512_vnni,
      &CpuFeatures::os_zmm}},
    {"neon-dotprod", {&CpuFeatures::neon_dotprod}},
};
CpuFeatures everything() {
    CpuFeatures f;
    for (const Feature x : kX86) f.*x = true;
    f.neon_dotprod = true;
    return f;
}
}  // namespace

TEST_CASE("dispatch never chooses instructions that the processor or the system lacks") {
    // Every subset of the features of x86, with and without those of Arm.
    for (unsigned subset = 0; subset < 1u << (std::size(kX86) + 1); ++subset) {
        CpuFeatures f;
        for (std::size_t i = 0; i < std::size(kX86); ++i) f.*kX86[i] = (subset >> i & 1) != 0;
        f.neon_dotprod = (subset >> std::size(kX86) & 1) != 0;
        for (const Kernels* k : all_kernels_for(f)) {
            const auto needs = kNeeds.find(k->isa);
            REQUIRE(needs != kNeeds.end());
            for (const Feature x : needs->second)
                if (!(f.*x)) FAIL(k->isa << " chosen without a feature it needs, subset " << subset);
        }
    }
}

TEST_CASE("without features the specification runs, with all of them the widest table") {
    CHECK(std::string(kernels_for({}).isa) == "scalar");
    CHECK(all_kernels_for({}).size() == 1);
    const std::string widest = kernels_for(everything()).isa;
#if defined(__x86_64__)
    CHECK(widest == "avx512-vnni");
    CHECK(all_kernels_for(everything()).size() == 4);
    CpuFeatures f = everything();
    f.os_zmm = false;  // a system that does not save the wide registers
    CHECK(std::string(kernels_for(f).isa) == "avx-vnni");
    f.avx_vnni = false;
    CHECK(std::string(kernels_for(f).isa) == "avx2");
    f.os_ymm = false;
    CHECK(std::string(kernels_for(f).isa) == "scalar");
#elif defined(__aarch64__)
    CHECK(widest == "neon-dotprod");
#endif
}

TEST_CASE("what runs here is what the features of this machine allow") {
    CHECK(&best_kernels() == &kernels_for(cpu_features()));
    CHECK(std::string(runnable_kernels().back()->isa) == "scalar");
    CHECK(cpu_features() == cpu_features());
}
