// memwall calibrate: measure this machine.
#include "kernels/calibrate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/samples_json.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/view/json_parts.h"
#include "core/view/text_table.h"
#include "devices/device_yaml.h"
#include "devices/host.h"

namespace memwall::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    kernels::CalibrateOptions run;
    std::string output;
    bool json = false;
};

std::string value_text(double value, const std::string& unit) {
    if (unit == "B/s") return rate_text(BytesPerSecond(value));
    if (unit == "ops/s") return ops_text(OpsPerSecond(value), "OPS");
    return value < 1e-6 ? fmt::format("{:.0f} ns", value * 1e9) : fmt::format("{:.2f} us", value * 1e6);
}

/// The file to write, opened before the minute of measuring: beside its place and moved there at the end, so
/// that nobody ever reads half a profile.
class ProfileFile {
  public:
    explicit ProfileFile(std::string path)
        : path_(std::move(path)), beside_(fmt::format("{}.{}", path_, getpid())) {
        std::error_code failed;
        const fs::path folder = fs::path(path_).parent_path();
        if (!folder.empty()) fs::create_directories(folder, failed);
        out_.open(beside_, std::ios::binary);
        if (!out_ || fs::is_directory(path_)) refuse();
    }
    ~ProfileFile() {
        std::error_code gone;
        fs::remove(beside_, gone);
    }
    ProfileFile(const ProfileFile&) = delete;
    ProfileFile& operator=(const ProfileFile&) = delete;

    void write(const std::string& text) {
        std::error_code failed;
        if (out_ << text && out_.flush()) fs::rename(beside_, path_, failed);
        if (!out_ || failed) refuse();
    }

  private:
    [[noreturn]] void refuse() {
        std::error_code gone;
        fs::remove(beside_, gone);
        throw Error("--output", fmt::format("cannot write '{}'", path_), "a file in a folder to write to");
    }
    std::string path_, beside_;
    std::ofstream out_;
};

std::string table(const device::Calibration& c) {
    view::TextTable t{{"probe", ">threads", ">median", ">95 % interval", ">range", ">samples", "how"}, {}};
    for (const device::ProbeResult& r : c.results) {
        const auto range = [&](double low, double high) {
            return fmt::format("{} - {}", value_text(low, r.unit), value_text(high, r.unit));
        };
        t.rows.push_back({r.probe, fmt::format("{}", r.threads), value_text(r.median, r.unit),
                          range(r.low, r.high), range(r.min, r.max),
                          r.unclean > 0 ? fmt::format("{} ({} disturbed)", r.samples, r.unclean)
                                        : fmt::format("{}", r.samples),
                          r.how});
    }
    return view::plain_table(t, colour_output(), table_width());
}

view::Json json(const kernels::CalibrationRun& run, const std::string& path) {
    const device::Calibration& c = *run.device.calibration;
    view::Json j = view::document("memwall/calibration/1");
    j["name"] = run.device.name;
    j["date"] = c.date;
    j["kernel"] = c.kernel;
    j["isa"] = c.isa;
    j["pages"] = c.pages;
    j["threads"] = c.threads;
    j["steal"] = c.steal;
    j["profile"] = path;
    j["notes"] = run.device.notes;
    j["results"] = view::Json::array();
    for (const device::ProbeResult& r : c.results)
        j["results"].push_back({{"probe", r.probe},
                                {"threads", r.threads},
                                {"unit", r.unit},
                                {"median", r.median},
                                {"low", r.low},
                                {"high", r.high},
                                {"min", r.min},
                                {"max", r.max},
                                {"samples", r.samples},
                                {"unclean", r.unclean},
                                {"steal", r.steal},
                                {"how", r.how}});
    j["samples"] = samples_json(run.sets);
    return j;
}

int run(const Options& o) {
    const std::string path = o.output.empty() ? devices::calibration_path() : o.output;
    if (path.empty())
        throw Error("--output", "neither HOME nor XDG_CONFIG_HOME is set", "a file to write the profile to");
    ProfileFile profile(path);
    const kernels::CalibrationRun done = kernels::calibrate(o.run, progress_line());
    profile.write(devices::write_device_yaml(done.device));
    if (o.json) {
        std::cout << json(done, path).dump(2, ' ', false, view::Json::error_handler_t::replace) << "\n";
        return kDone;
    }
    const device::Calibration& c = *done.device.calibration;
    std::cout << fmt::format("{}: {}, {} thread{}, {} pages, {:.1f} % of CPU time stolen\n", done.device.name,
                             c.isa, c.threads, c.threads == 1 ? "" : "s", c.pages, c.steal * 100)
              << table(c);
    for (const std::string& note : done.device.notes) std::cout << "note: " << note << "\n";
    std::cerr << fmt::format("Saved to {}; `memwall plan MODEL --device {}` plans with it.\n", path,
                             path == devices::calibration_path() ? "host" : path);
    return kDone;
}

}  // namespace

void add_calibrate(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "calibrate", "Measure this machine in about a minute; '--device host' then plans with it");
    app->add_option("--output", o->output, "profile to write; default: host.yaml in the user's folder")
        ->type_name("FILE");
    app->add_option("--threads", o->run.threads, "the most threads to measure; default: one a core")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    app->add_option("--seconds", o->run.seconds, "about how long it may take; default: 60")->type_name("S");
    app->add_option("--storage", o->run.storage,
                    "folder whose device is read; default: memwall in the user's cache folder")
        ->type_name("DIR");
    app->add_flag("--json", o->json, "print one JSON document with raw samples");
    app->footer(
        "Measures memory bandwidth for one thread and more, int8 and fp32 peak rates, barriers and storage.\n"
        "Close other programs first: samples that somebody disturbed are set aside.\n"
        "Examples:\n"
        "  memwall calibrate\n"
        "  memwall calibrate --seconds 20 --output board.yaml --storage /data\n"
        "  memwall plan qwen2.5-7b --device host --context 4096");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
