// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/pages.h"

namespace memwall::gui {

std::vector<NamedPage> make_pages(Session& session) {
    return {{"explore", make_explore_page(session)},
            {"triangle", make_triangle_page(session)},
            {"explain", make_explain_page(session)},
            {"simulate", make_simulate_page(session)},
            {"verify", make_verify_page(session)}};
}

}  // namespace memwall::gui
