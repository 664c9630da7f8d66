// The choice that the numbers support, in words. Every sentence is computed from the report; none is said
// when the report lacks its numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/lab/lab.h"

namespace memwall::lab {

/// The fewest bits whose SQNR is at least limit_db in this tensor; nullopt when none. Index into methods.
std::optional<std::size_t> smallest_method(const LabReport& report, const TensorReport& tensor);
/// Least SQNR of a method over the tensors; nullopt when it suits none of them. `where` is that tensor.
struct WorstTensor {
    double sqnr_db = 0;
    std::size_t where = 0;
    std::size_t suited = 0;  ///< tensors whose rows suit the format
};
std::optional<WorstTensor> worst_tensor(const LabReport& report, std::size_t method);

std::vector<std::string> choices(const LabReport& report);

}  // namespace memwall::lab
