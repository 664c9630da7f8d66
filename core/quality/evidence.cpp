#include "core/quality/evidence.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/model/catalog.h"
#include "core/quality/method.h"

namespace memwall::quality {
namespace {

constexpr std::string_view kFolder = "quality/evidence/";
constexpr std::array<std::pair<std::string_view, RowGroup>, 4> kGroups = {{{"weights", RowGroup::weights},
                                                                           {"kv", RowGroup::kv},
                                                                           {"window", RowGroup::window},
                                                                           {"pruning", RowGroup::pruning}}};

[[noreturn]] void fail(const std::string& name, const YAML::Node& at, const std::string& found,
                       const std::string& expected) {
    throw Error(fmt::format("{}:{}", name, at.Mark().line + 1), found, expected);
}

RowGroup read_group(const YAML::Node& head, const std::string& name) {
    const auto text = head["group"].as<std::string>("weights");
    for (const auto& [word, group] : kGroups)
        if (word == text) return group;
    fail(name, head["group"], fmt::format("'{}'", text), "weights, kv, window or pruning");
}

double finite(const std::string& text, const std::string& place) {
    char* end = nullptr;
    const double x = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(x))
        throw Error(place, fmt::format("'{}'", text), "a number");
    return x;
}

/// A line "ID BITS IMATRIX VALUE METHOD"; BITS may be "-", IMATRIX is y, n or ?.
EvidenceRow read_row(EvidenceRow head, const std::string& line, const std::string& place) {
    std::istringstream in(line);
    std::string bits, imatrix, value;
    in >> head.id >> bits >> imatrix >> value >> std::ws;
    std::getline(in, head.method);
    if (head.method.empty() || (imatrix != "y" && imatrix != "n" && imatrix != "?"))
        throw Error(place, fmt::format("'{}'", line), "ID BITS|- y|n|? VALUE METHOD");
    head.bits = bits == "-" ? 0 : finite(bits, place);
    head.value = finite(value, place);
    head.imatrix = imatrix == "y" ? Imatrix::with : imatrix == "n" ? Imatrix::without : Imatrix::unknown;
    return head;
}

void read_table(EvidenceFile& file, const YAML::Node& table, const std::vector<std::string>& sources,
                const std::string& name) {
    const YAML::Node head = table["head"], rows = table["rows"];
    if (!head || !head.IsMap() || !rows || !rows.IsScalar())
        fail(name, table, "no 'head' or no 'rows'", "head: {model, metric, source, ...} and rows: |");
    EvidenceRow common;
    common.model = head["model"].as<std::string>();
    common.metric = head["metric"].as<std::string>();
    common.group = read_group(head, name);
    if (head["baseline"]) {
        common.baseline = finite(head["baseline"].as<std::string>(),
                                 fmt::format("{}:{}", name, head["baseline"].Mark().line + 1));
        const auto of = head["baseline_of"].as<std::string>("");
        common.baseline_estimated = of.starts_with("estimated") || of == "Q8_0";
    }
    common.context = head["context"].as<std::int64_t>(0);
    common.weak = head["evidence"].as<std::string>("");
    const auto source = head["source"].as<std::size_t>();
    if (source >= sources.size())
        fail(name, head["source"], fmt::format("source {}", source),
             fmt::format("0 to {}", sources.size() - 1));
    common.source = sources[source];
    std::istringstream lines(rows.as<std::string>());
    int number = rows.Mark().line + 1;
    for (std::string line; std::getline(lines, line);)
        if (++number; !line.empty())
            file.rows.push_back(read_row(common, line, fmt::format("{}:{}", name, number)));
}

}  // namespace

EvidenceFile read_evidence(std::string_view yaml, const std::string& name) {
    try {
        const YAML::Node root = YAML::Load(std::string(yaml));
        if (!root.IsMap() || root["schema"].as<std::string>("") != "memwall/quality-evidence/1")
            throw Error(name, "no such schema", "schema: memwall/quality-evidence/1");
        EvidenceFile file;
        file.id = root["id"].as<std::string>();
        file.shape = root["shape"].as<std::string>("");
        file.parameters = root["parameters_billions"].as<double>(0);
        const auto sources = root["sources"].as<std::vector<std::string>>();
        const YAML::Node tables = root["tables"];
        if (!tables || !tables.IsSequence()) fail(name, root, "no 'tables'", "a list of tables");
        for (const YAML::Node& table : tables) read_table(file, table, sources, name);
        return file;
    } catch (const YAML::Exception& e) {
        throw Error(fmt::format("{}:{}", name, e.mark.line + 1), e.msg, "a file of quality evidence");
    }
}

std::shared_ptr<const EvidenceFile> find_evidence(std::string_view id) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const EvidenceFile>, std::less<>> known;
    const std::scoped_lock lock(mutex);
    if (const auto it = known.find(id); it != known.end()) return it->second;
    const std::string path = fmt::format("{}{}.yaml", kFolder, id);
    const EmbeddedFile* file = embedded_quality().find(path);
    auto parsed = file ? std::make_shared<const EvidenceFile>(read_evidence(file->text(), path)) : nullptr;
    known.emplace(std::string(id), parsed);
    return parsed;
}

std::vector<std::shared_ptr<const EvidenceFile>> all_evidence() {
    std::vector<std::shared_ptr<const EvidenceFile>> files;
    for (const EmbeddedFile& f : embedded_quality())
        if (f.path.starts_with(kFolder))
            files.push_back(find_evidence(f.path.substr(kFolder.size(), f.path.size() - kFolder.size() - 5)));
    return files;
}

std::string evidence_id(const model::Model& model) {
    std::string id = model.id;
    if (!embedded_quality().find(fmt::format("{}{}.yaml", kFolder, id))) {
        // A file: "Qwen2.5-7B-Instruct-Q4_K_M.gguf", or the name in its metadata.
        if (id.ends_with(".gguf")) id.resize(id.size() - 5);
        auto known = model::find_catalog_id(id);
        const std::size_t dash = id.find_last_of("-.");
        if (!known && dash != std::string::npos && read_method(id.substr(dash + 1)))
            known = model::find_catalog_id(std::string_view(id).substr(0, dash));
        if (!known) return {};
        id = *known;
    }
    const auto file = find_evidence(id);
    if (!file) return {};
    const double billions = static_cast<double>(model::text_parameters(model)) / 1e9;
    return file->parameters == 0 || std::abs(billions / file->parameters - 1) < 0.03 ? id : std::string();
}

}  // namespace memwall::quality
