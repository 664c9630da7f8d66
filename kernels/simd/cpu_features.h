// What the processor and its operating system let a program execute. A value, so that tests can take features
// away and see what dispatch makes of it.
#pragma once

namespace memwall::kernels {

struct CpuFeatures {
    // x86
    bool avx2 = false, fma = false, f16c = false;
    bool avx_vnni = false;  ///< VEX coded, 256 bits
    bool avx512f = false, avx512bw = false, avx512dq = false, avx512vl = false, avx512_vnni = false;
    bool os_ymm = false;  ///< the system saves 256-bit registers (XCR0 bits 1 and 2)
    bool os_zmm = false;  ///< and 512-bit and mask registers (XCR0 bits 5 to 7)
    // Arm
    bool neon_dotprod = false;
    bool operator==(const CpuFeatures&) const = default;
};

/// Of this machine: CPUID leaves 1 and 7 and XCR0 (Intel SDM volume 2, CPUID, XGETBV), or AT_HWCAP on Arm.
CpuFeatures cpu_features();

/// Whether CPUID names AMD or Hygon, whose cores are Zen: prefetch distances differ, instructions do not.
bool cpu_made_by_amd();

}  // namespace memwall::kernels
