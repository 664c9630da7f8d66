// libFuzzer target: a device file is read into a device that writes itself stably, or refused with an Error.
#include <cstdlib>

#include "core/base/error.h"
#include "devices/device_yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace memwall;
    using namespace memwall::devices;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        read_device_summary(text, "fuzz.yaml");
    } catch (const Error&) {
    }
    try {
        const SizeChoice eight{Bytes(8 * kGiB), "fuzz", "--device"};
        const std::string once = write_device_yaml(read_device_yaml(text, "fuzz.yaml", eight));
        if (write_device_yaml(read_device_yaml(once, "once.yaml")) != once) std::abort();
    } catch (const Error& e) {
        // What we wrote ourselves has to be readable.
        if (e.place().starts_with("once.yaml")) std::abort();
    }
    return 0;
}
