#include "core/model/model.h"

namespace memwall::model {

const std::string& Model::source(const std::string& field) const {
    const auto it = sources.find(field);
    return it == sources.end() ? default_source : it->second;
}

}  // namespace memwall::model
