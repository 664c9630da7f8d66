#include "core/speed/points.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <map>

#include "core/base/error.h"
#include "core/speed/decode.h"

namespace memwall::speed {
namespace {

/// A mapping of the file with errors that name the line.
class Entry {
  public:
    Entry(const YAML::Node& node, const std::string& name) : node_(node), name_(name) {}
    template <class T>
    T get(const char* key) const {
        if (!node_[key])
            throw Error(fmt::format("{}:{}", name_, node_.Mark().line + 1), fmt::format("no '{}'", key));
        return node_[key].as<T>();
    }
    template <class T>
    T get(const char* key, T otherwise) const {
        return node_[key] ? node_[key].as<T>() : otherwise;
    }
    Entry at(const char* table, const std::string& key) const {
        const YAML::Node row = node_[table][key];
        if (!row)
            throw Error(name_, fmt::format("no '{}' under {}", key, table),
                        "an entry for each name that rows use");
        return {row, name_};
    }
    std::string text(const char* table, const std::string& key) const {
        return at(table, key).node_.as<std::string>();
    }

  private:
    YAML::Node node_;
    const std::string& name_;
};

template <class T>
T named(const std::map<std::string, T>& table, const std::string& key) {
    const auto it = table.find(key);
    if (it == table.end()) throw Error("", fmt::format("unknown '{}'", key));
    return it->second;
}

Traits traits_of(const Entry& device, const Entry& engine, std::string_view efficiency_class) {
    constexpr double giga = 1e9, tera = 1e12;
    static const std::map<std::string, device::ProcessorKind> kinds = {{"cpu", device::ProcessorKind::cpu},
                                                                       {"gpu", device::ProcessorKind::gpu},
                                                                       {"npu", device::ProcessorKind::npu}};
    Traits t;
    t.efficiency_class = efficiency_class;
    t.kind = named(kinds, device.get<std::string>("kind"));
    t.bandwidth = device.get<double>("bandwidth") * giga;
    t.fp32 = device.get<double>("fp32", 0) * tera;
    const double fp16 = device.get<double>("fp16", 0) * tera, int8 = device.get<double>("int8", 0) * tera;
    t.matrix_peak = t.kind == device::ProcessorKind::gpu ? fp16 : int8 > 0 ? int8 : 4 * t.fp32;
    t.wide_peak = t.kind == device::ProcessorKind::cpu ? t.fp32 : t.matrix_peak;
    t.concurrent_int = device.get<bool>("concurrent_int", false);
    t.engine_year = engine.get<int>("year");
    t.fused_attention = engine.get<bool>("fused");
    t.served = engine.get<bool>("served", false);
    return t;
}

/// How a point's weights are stored: decides what has to be unpacked and which arithmetic they meet.
enum class Packing : std::uint8_t { wide, simple, nested, split, int8 };

MatrixSet matrices(Packing packing, double weights, double bytes) {
    MatrixSet s;
    s.bytes = bytes;
    s.ops = 2 * weights;
    if (packing == Packing::wide) s.wide_ops = s.ops;
    if (packing == Packing::simple) s.simple_weights = weights;
    if (packing == Packing::nested) s.nested_weights = weights;
    if (packing == Packing::split) s.split_weights = weights;
    if (packing == Packing::nested || packing == Packing::split) s.nested_ops = s.ops;
    return s;
}

/// Head and body share the bytes by their weights: a step reads both, so only the sum counts.
Workload workload_of(const Entry& model, const Entry& quant, double bytes) {
    static const std::map<std::string, Packing> packings = {{"wide", Packing::wide},
                                                            {"simple", Packing::simple},
                                                            {"nested", Packing::nested},
                                                            {"split", Packing::split},
                                                            {"int8", Packing::int8}};
    Workload w;
    const auto layer_count = model.get<int>("layers");
    w.layers = layer_count * layer_launches(model.get<int>("extra_norms", 0));
    w.expert_layers = model.get<int>("experts", 0) > 0 ? layer_count : 0;
    const auto weights = model.get<double>("weights"), body = model.get<double>("body");
    const Packing packing = named(packings, quant.get<std::string>("body"));
    const double split =
        packing == Packing::nested ? model.get<double>("split", quant.get<double>("split", 0)) : 0;
    w.body =
        matrices(named(packings, quant.get<std::string>("body")), body * (1 - split), bytes * body / weights);
    const MatrixSet more = matrices(Packing::split, body * split, 0);
    w.body.split_weights += more.split_weights;
    w.body.ops += more.ops;
    w.body.nested_ops += more.nested_ops;
    w.head = matrices(named(packings, quant.get<std::string>("head")), weights - body,
                      bytes * (1 - body / weights));
    w.stored_bytes = bytes;
    w.attention_groups = 1;
    const auto width = model.get<double>("attention_width");
    const int layers = model.get<int>("attention_layers", layer_count);
    w.attention[0].ops_per_cell = 4 * width * layers;
    w.attention[0].heads = width / model.get<double>("head_dim", 128) * layers;
    return w;
}

MeasuredPoint point_of(const Entry& root, const Entry& row) {
    static const std::map<std::string, MeasuredPoint::Regime> regimes = {
        {"resident", MeasuredPoint::Regime::resident},
        {"offload", MeasuredPoint::Regime::offload},
        {"thrash", MeasuredPoint::Regime::thrash}};
    MeasuredPoint p;
    const auto key = row.get<std::string>("device");
    const Entry device = root.at("devices", key);
    p.device = device.get<std::string>("same_as", key);
    p.device_name = device.get<std::string>("name");
    p.model = row.get<std::string>("model");
    p.quant = row.get<std::string>("quant");
    p.engine = row.get<std::string>("engine");
    p.source = root.text("sources", row.get<std::string>("source"));
    p.id = row.get<std::string>("id", "");
    p.regime = named(regimes, row.get<std::string>("regime", "resident"));
    const Entry engine = root.at("engines", p.engine), model = root.at("models", p.model);
    p.traits = traits_of(device, engine, intern(device.get<std::string>("class")));
    p.engine_info.expands_weights = engine.get<bool>("expands", false);
    p.work = workload_of(model, root.at("quants", p.quant), row.get<double>("read_gb") * 1e9);
    p.kv.add(model.get<double>("kv_bytes") * row.get<double>("kv_scale", 1), 0);
    p.stored_bytes = row.get<double>("stored_gb", 0) * 1e9;
    p.settings.context = row.get<std::int64_t>("depth", row.get<std::int64_t>("generated", 0) / 2);
    p.settings.prompt = row.get<std::int64_t>("prompt", 0);
    p.decode_per_second = row.get<double>("tg", 0);
    p.prefill_per_second = row.get<double>("pp", 0);
    return p;
}

}  // namespace

Machine MeasuredPoint::machine(const PriorBook& book) const {
    Machine m = machine_from(traits, book);
    m.expands_weights = engine_info.expands_weights;
    return m;
}

PointSet read_points(std::string_view yaml, const std::string& name) {
    try {
        const YAML::Node file = YAML::Load(std::string(yaml));
        const Entry root(file, name);
        PointSet set;
        constexpr std::pair<const char*, MeasuredPoint::Set> lists[] = {
            {"scored", MeasuredPoint::Set::scored},
            {"extra", MeasuredPoint::Set::extra},
            {"cases", MeasuredPoint::Set::cases}};
        for (const auto& [key, kind] : lists)
            for (const YAML::Node& row : file[key]) {
                set.points.push_back(point_of(root, Entry(row, name)));
                set.points.back().set = kind;
            }
        for (std::size_t i = 0; i < rate_count; ++i)
            set.skeleton.spread[i] =
                Entry(file["spread"], name).get<double>(rate_name(static_cast<Rate>(i)).data());
        set.skeleton.families["pooled"].utilisation = 0.3;
        for (const auto& entry : file["families"]) {
            const auto family = entry.first.as<std::string>();
            FamilyPrior& start = set.skeleton.families[family];
            start.utilisation = Entry(entry.second, name).get<double>("utilisation");
            start.weights = Entry(entry.second, name).get<double>("weights", 0);
            start.parent = Entry(entry.second, name).get<std::string>("parent", "pooled");
            for (const YAML::Node& c : entry.second["classes"])
                set.skeleton.add_class(c.as<std::string>(), family, false);
        }
        return set;
    } catch (const YAML::Exception& e) {
        throw Error(fmt::format("{}:{}", name, e.mark.line + 1), e.msg, "a file of measured points");
    }
}

}  // namespace memwall::speed
