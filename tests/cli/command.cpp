#include "tests/cli/command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace memwall::test {
namespace {

std::string slurp(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

Output run_memwall(const std::string& arguments, const std::string& config_home, int columns) {
    const auto base = std::filesystem::temp_directory_path() / ("memwall-cli-" + std::to_string(::getpid()));
    const std::string out = base.string() + ".out", err = base.string() + ".err";
    const std::string line = "COLUMNS=" + (columns > 0 ? std::to_string(columns) : "") +
                             " XDG_CONFIG_HOME=" + config_home + " " MEMWALL_COMMAND " " + arguments + " >" +
                             out + " 2>" + err;
    const int status = std::system(line.c_str());
    Output o{WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(out), slurp(err)};
    std::filesystem::remove(out);
    std::filesystem::remove(err);
    return o;
}

}  // namespace memwall::test
