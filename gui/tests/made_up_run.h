// SPDX-License-Identifier: GPL-3.0-only
// A verification as it might come out, for tests of what shows one: measuring takes minutes.
#pragma once

#include "kernels/verify.h"

namespace memwall::gui::tests {

/// An input, an exact row, one that holds and one that is missed.
kernels::VerifyRun made_up_run();

}  // namespace memwall::gui::tests
