// The charts of a report, each a self-contained SVG; empty where the report has no data for it.
#pragma once

#include <string>

#include "cli/report/report.h"

namespace memwall::cli {

std::string pool_chart(const PoolBar& pool);
std::string memory_chart(const Report& report);    ///< memory against context with budget and largest context
std::string speed_chart(const Report& report);     ///< tokens/s against context with its band
std::string roofline_chart(const Report& report);  ///< operators below the machine's roofs
std::string triangle_chart(const Report& report);  ///< candidates by their balance
std::string job_chart(const Report& report);       ///< job time against memory
std::string loss_chart(const Report& report);      ///< tokens that differ against memory
std::string loss_job_chart(const Report& report);  ///< tokens that differ against job time

}  // namespace memwall::cli
