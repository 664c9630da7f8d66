// Runs the built command and reads what it printed.
#pragma once

#include <string>

namespace memwall::test {

struct Output {
    int status = -1;
    std::string out, err;
};

/// `arguments` is a shell fragment after the program's name. No user catalogue and no saved calibration leaks
/// into a test that does not name its own folder of them. `columns` of the screen, 0 = none.
Output run_memwall(const std::string& arguments, const std::string& config_home = "/nonexistent",
                   int columns = 0);

}  // namespace memwall::test
