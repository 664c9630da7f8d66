#include "core/view/records.h"

#include "core/view/text_table.h"

namespace memwall::view {
namespace {

std::string cell(const Json& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return value.dump();
    std::string all;
    for (const Json& element : value) all += (all.empty() ? "" : " ") + cell(element);
    return all;
}

}  // namespace

std::string records_json(std::string_view schema, std::string_view key, const Records& records) {
    Json j = document(schema);
    j[std::string(key)] = records;
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string records_csv(const std::vector<std::string>& keys, const Records& records) {
    TextTable table{keys, {}};
    for (const Json& record : records) {
        std::vector<std::string> row;
        for (const std::string& key : keys) row.push_back(cell(record.at(key)));
        table.rows.push_back(std::move(row));
    }
    return csv_table(table);
}

}  // namespace memwall::view
