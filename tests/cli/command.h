// Runs the built command and reads what it printed.
#pragma once

#include <string>

namespace memwall::test {

struct Output {
    int status = -1;
    std::string out, err;
};

/// `arguments` is a shell fragment after the program's name.
Output run_memwall(const std::string& arguments);

}  // namespace memwall::test
