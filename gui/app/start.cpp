// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/start.h"

#include <QElapsedTimer>

#include "devices/fit.h"
#include "devices/host.h"

namespace memwall::gui {

plan::Deployment start_at_once(const std::string& device) {
    plan::Deployment d;
    d.model = "qwen2.5-3b";
    d.quant = "Q4_K_M";
    d.context = 8192;
    d.device = device.empty() ? "raspberry-pi-5:8GiB" : device;
    if (!device.empty()) return d;
    try {
        QElapsedTimer timer;
        timer.start();
        const device::Device host = devices::host_device();
        const bool timed = !host.pools.empty() && host.pools.front().bandwidth.value > 0;
        if (timed && timer.elapsed() < 50) d.device = "host";
    } catch (const std::exception&) {  // an unreadable calibration is no reason for an empty window
    }
    return d;
}

plan::Deployment best_start(const plan::Deployment& first) {
    plan::Deployment d;
    d.device = first.device;
    d.context = first.context;
    plan::Demands demands;
    demands.limits.min_decode = 3;  // tokens/s: about as fast as people read
    const auto ranked = devices::fit_catalogue(d, demands, "", quality::Lane{}, devices::Rank::score, {});
    return !ranked.empty() && ranked.front().admitted ? ranked.front().deployment : first;
}

}  // namespace memwall::gui
