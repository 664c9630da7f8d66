#include "devices/draft_models.h"

#include "core/model/catalog.h"

namespace memwall::devices {

const std::vector<plan::DraftModel>& catalogue_drafts() {
    static const std::vector<plan::DraftModel> all = [] {
        std::vector<plan::DraftModel> list;
        for (const std::string_view id : model::catalog_ids())
            if (const auto m = model::load_catalog_model(std::string(id)); m && !m->embedder)
                list.push_back({m->id, m->family, model::text_parameters(*m)});
        return list;
    }();
    return all;
}

}  // namespace memwall::devices
