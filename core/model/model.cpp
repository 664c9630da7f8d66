#include "core/model/model.h"

namespace memwall::model {

const std::string& Model::source(const std::string& field) const {
    static const std::string catalogue = "catalogue";
    const auto it = sources.find(field);
    return it == sources.end() ? catalogue : it->second;
}

}  // namespace memwall::model
