// SPDX-License-Identifier: GPL-3.0-only
// The pages in the order of the header.
#pragma once

#include <vector>

#include "gui/app/page.h"

namespace memwall::gui {

struct NamedPage {
    QString name;
    Page* page;
};
std::vector<NamedPage> make_pages(Session& session);

}  // namespace memwall::gui
