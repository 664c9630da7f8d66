#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/model/gguf.h"
#include "kernels/engine/weight_source.h"
#include "kernels/panels/ggml_blocks.h"
#include "kernels/quantize/block_codec.h"

namespace memwall::kernels {
namespace {

class GgufWeights final : public WeightSource {
  public:
    explicit GgufWeights(const std::string& path)
        : source_(open_file(path)), file_(model::parse_gguf(*source_)) {
        if (file_.big_endian || file_.truncated || file_.find("split.count") != nullptr)
            throw Error(path, "a file that is big-endian, cut or one of a split set",
                        "one whole little-endian file");
        std::string architecture;
        if (const auto* e = file_.find("general.architecture"))
            if (const auto* text = std::get_if<std::string>(&e->value.value)) architecture = *text;
        rope_base_ = real(architecture + ".rope.freq_base");
        epsilon_ = real(architecture + ".attention.layer_norm_rms_epsilon");
    }

    PanelFormat format(const model::Tensor& t) const override {
        const quant::Format f = find(t).format;
        if (f.family == quant::Family::ggml)
            if (const auto exact = panel_format_of_ggml(f.ggml_type)) return *exact;
        return f == quant::ggml("F32") || f == quant::ggml("BF16") ? PanelFormat::f16 : PanelFormat::w8g32;
    }

    QuantMatrix rows(const model::Tensor& t, std::int64_t index, std::int64_t first,
                     std::int64_t n) const override {
        const model::GgufTensor& stored = find(t);
        if (index < 0 || index >= t.dims[2] * t.dims[3] || first < 0 || n < 0 || first > t.dims[1] - n)
            throw Error(file_.name, "rows from " + std::to_string(first) + " of tensor '" + t.name + "'",
                        "0 to " + std::to_string(t.dims[1]));
        const std::int64_t k = t.dims[0], all = t.elements() / std::max<std::int64_t>(k, 1);
        const auto row_bytes = static_cast<std::uint64_t>(stored.bytes / std::max<std::int64_t>(all, 1));
        const auto bytes =
            source_->view(file_.data_offset + stored.offset +
                              static_cast<std::uint64_t>(index * t.dims[1] + first) * row_bytes,
                          static_cast<std::uint64_t>(n) * row_bytes);
        const PanelFormat as = format(t);
        if (panel_format_of_ggml(stored.format.ggml_type) == as)
            return matrix_of_ggml(stored.format.ggml_type, n, k, bytes);
        return round_to_nearest(as, decoded(stored, bytes, static_cast<std::size_t>(n * k)), n, k);
    }

    std::vector<float> vector(const model::Tensor& t) const override {
        const model::GgufTensor& stored = find(t);
        return decoded(
            stored,
            source_->view(file_.data_offset + stored.offset, static_cast<std::uint64_t>(stored.bytes)),
            static_cast<std::size_t>(t.elements()));
    }

    double rope_base() const override { return rope_base_; }
    double epsilon() const override { return epsilon_; }

  private:
    const model::GgufTensor& find(const model::Tensor& t) const {
        const model::GgufTensor* stored = file_.find_tensor(t.name);
        if (stored == nullptr || stored->elements() != t.elements() || stored->dims[0] != t.dims[0])
            throw Error(file_.name, "no tensor '" + t.name + "' of the model's shape",
                        "the model's own file");
        return *stored;
    }
    std::vector<float> decoded(const model::GgufTensor& stored, std::span<const std::byte> bytes,
                               std::size_t n) const {
        const quantize::BlockCodec* codec = quantize::find_codec(stored.format);
        if (codec == nullptr)
            throw Error(file_.name + "@" + std::to_string(file_.data_offset + stored.offset),
                        "tensor '" + stored.name + "' in " + quant::format_name(stored.format),
                        "a format we can decode");
        std::vector<float> x(n);
        quantize::decode(*codec, bytes, x);
        if (!std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); }))
            throw Error(file_.name + "@" + std::to_string(file_.data_offset + stored.offset),
                        "tensor '" + stored.name + "' holds a value that is not finite", "finite weights");
        return x;
    }
    double real(const std::string& key) const {
        const model::GgufEntry* e = file_.find(key);
        const double* value = e == nullptr ? nullptr : std::get_if<double>(&e->value.value);
        return value == nullptr || !std::isfinite(*value) ? 0 : *value;
    }

    std::unique_ptr<ByteSource> source_;
    model::GgufFile file_;
    double rope_base_ = 0, epsilon_ = 0;
};

}  // namespace

std::unique_ptr<WeightSource> gguf_weights(const std::string& path) {
    return std::make_unique<GgufWeights>(path);
}

}  // namespace memwall::kernels
