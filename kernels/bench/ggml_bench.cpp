// Matrix-vector products of ggml and ours in one run: Q4_0, Q8_0 and Q4_K as shares of the read bandwidth of
// the same moment. Block formats and bits a weight are the same, so the quotient of the shares is the
// quotient of weights a second. ggml runs whole, through its graph API and thread pool, from shared libraries
// given on the command line (scripts/bench-ggml fetches them); the declarations below are our own, after its
// public headers.
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/base/error.h"
#include "kernels/bench/paired.h"
#include "kernels/panels/ggml_blocks.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::bench;

namespace {

/// ggml's C API, as far as it is used here.
struct Ggml {
    struct InitParams {
        std::size_t mem_size;
        void* mem_buffer;
        bool no_alloc;
    };
    void* (*init)(InitParams);
    void (*free)(void*);
    void* (*new_tensor_2d)(void* context, int type, std::int64_t ne0, std::int64_t ne1);
    void* (*mul_mat)(void* context, void* a, void* b);
    void* (*new_graph)(void* context);
    void (*build_forward_expand)(void* graph, void* tensor);
    std::size_t (*nbytes)(const void* tensor);
    void* (*get_data)(const void* tensor);
    void* (*alloc_ctx_tensors_from_buft)(void* context, void* buffer_type);
    void (*buffer_free)(void* buffer);
    void (*tensor_set)(void* tensor, const void* data, std::size_t offset, std::size_t size);
    void (*tensor_get)(const void* tensor, void* data, std::size_t offset, std::size_t size);
    int (*graph_compute)(void* backend, void* graph);
    bool (*dev_supports_op)(void* device, const void* op);
    const char* (*buft_name)(void* buffer_type);
    void (*log_set)(void (*)(int level, const char* text, void* user), void* user);
    void* (*cpu_init)();
    void (*cpu_set_n_threads)(void* backend, int n);
    void* (*cpu_reg)();
    void* (*reg_dev_get)(void* reg, std::size_t index);
    void* (*reg_get_proc_address)(void* reg, const char* name);
    void* (*cpu_buffer_type)();
    std::string cpu_library;
};

void* open_library(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) throw Error(path, dlerror(), "a shared library of ggml");
    return library;
}
template <class F>
void bind(void* library, const char* name, F& to) {
    to = reinterpret_cast<F>(dlsym(library, name));
    if (to == nullptr) throw Error(name, "not in the library", "ggml's public API");
}

/// The base library and, of the CPU libraries beside it, the one that scores itself highest here.
Ggml load(const std::string& folder) {
    Ggml g;
    void* base = open_library(folder + "/libggml-base.so");
    int best = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename();
        if (name.rfind("libggml-cpu", 0) != 0) continue;
        void* library = dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) continue;
        const auto score = reinterpret_cast<int (*)()>(dlsym(library, "ggml_backend_score"));
        const int points = score == nullptr ? 1 : score();
        if (points > best) {
            best = points;
            g.cpu_library = entry.path();
        }
        dlclose(library);
    }
    if (best == 0) throw Error(folder, "no libggml-cpu*.so that runs here", "the folder of ggml's libraries");
    void* cpu = open_library(g.cpu_library);
    bind(base, "ggml_init", g.init);
    bind(base, "ggml_free", g.free);
    bind(base, "ggml_new_tensor_2d", g.new_tensor_2d);
    bind(base, "ggml_mul_mat", g.mul_mat);
    bind(base, "ggml_new_graph", g.new_graph);
    bind(base, "ggml_build_forward_expand", g.build_forward_expand);
    bind(base, "ggml_nbytes", g.nbytes);
    bind(base, "ggml_get_data", g.get_data);
    bind(base, "ggml_backend_alloc_ctx_tensors_from_buft", g.alloc_ctx_tensors_from_buft);
    bind(base, "ggml_backend_buffer_free", g.buffer_free);
    bind(base, "ggml_backend_tensor_set", g.tensor_set);
    bind(base, "ggml_backend_tensor_get", g.tensor_get);
    bind(base, "ggml_backend_graph_compute", g.graph_compute);
    bind(base, "ggml_backend_reg_dev_get", g.reg_dev_get);
    bind(base, "ggml_backend_reg_get_proc_address", g.reg_get_proc_address);
    bind(base, "ggml_backend_cpu_buffer_type", g.cpu_buffer_type);
    bind(base, "ggml_backend_dev_supports_op", g.dev_supports_op);
    bind(base, "ggml_backend_buft_name", g.buft_name);
    bind(base, "ggml_log_set", g.log_set);
    g.log_set([](int, const char*, void*) {}, nullptr);  // it reports every tensor it repacks
    bind(cpu, "ggml_backend_cpu_init", g.cpu_init);
    bind(cpu, "ggml_backend_cpu_set_n_threads", g.cpu_set_n_threads);
    bind(cpu, "ggml_backend_cpu_reg", g.cpu_reg);
    return g;
}

struct Type {
    const char* name;
    int id, block_len, block_bytes, halves;
    PanelFormat format;
};
constexpr Type kTypes[] = {{"Q4_0", 2, 32, 18, 1, PanelFormat::w4g32},
                           {"Q8_0", 8, 32, 34, 1, PanelFormat::w8g32},
                           {"Q4_K", 12, 256, 144, 2, PanelFormat::q4k}};
constexpr std::int64_t kK = 4096, kRows = 16384;

std::vector<std::uint8_t> random_blocks(const Type& t, std::int64_t rows, std::uint32_t seed) {
    std::mt19937 rng(seed);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(rows * kK / t.block_len * t.block_bytes));
    for (auto& b : bytes) b = static_cast<std::uint8_t>(rng());
    for (std::size_t block = 0; block < bytes.size(); block += static_cast<std::size_t>(t.block_bytes))
        for (int h = 0; h < t.halves; ++h)  // scales from 2^-10 to 2^-9
            bytes[block + static_cast<std::size_t>(2 * h) + 1] =
                0x14 | (bytes[block + static_cast<std::size_t>(2 * h) + 1] & 3);
    return bytes;
}

/// Matrices of one type in one buffer of ggml's, and a graph that multiplies all of them by a vector.
class Products {
  public:
    Products(const Ggml& g, const Type& t, void* buffer_type, int matrices, std::int64_t rows) : g_(g) {
        context_ = g.init({std::size_t{16} << 20, nullptr, true});
        void* inputs = g.init({std::size_t{1} << 20, nullptr, true});
        x_ = g.new_tensor_2d(inputs, 0, kK, 1);
        for (int i = 0; i < matrices; ++i) weights_.push_back(g.new_tensor_2d(context_, t.id, kK, rows));
        buffers_.push_back(g.alloc_ctx_tensors_from_buft(context_, buffer_type));
        if (buffers_.back() == nullptr)
            throw Error("ggml", "no buffer", "room for " + std::to_string(matrices) + " matrices");
        for (void* w : weights_) {  // the same pages as ours: advised before they are touched
            const auto first = (reinterpret_cast<std::uintptr_t>(g.get_data(w)) + 4095) / 4096 * 4096;
            madvise(reinterpret_cast<void*>(first), g.nbytes(w) / 4096 * 4096, MADV_HUGEPAGE);
        }
        buffers_.push_back(g.alloc_ctx_tensors_from_buft(inputs, g.cpu_buffer_type()));
        void* results = g.init({std::size_t{16} << 20, nullptr, true});
        graph_ = g.new_graph(results);
        for (void* w : weights_) {
            y_ = g.mul_mat(results, w, x_);
            g.build_forward_expand(graph_, y_);
        }
        supported_ = g.dev_supports_op(g.reg_dev_get(g.cpu_reg(), 0), y_);
        if (!supported_) return;
        const auto blocks = random_blocks(t, rows, 1);
        for (void* w : weights_) g.tensor_set(w, blocks.data(), 0, blocks.size());
        buffers_.push_back(g.alloc_ctx_tensors_from_buft(results, g.cpu_buffer_type()));
    }
    ~Products() {
        for (void* b : buffers_) g_.buffer_free(b);
        g_.free(context_);
    }
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;

    /// False when this layout does not know the type.
    bool supported() const { return supported_; }
    void set_x(const std::vector<float>& x) { g_.tensor_set(x_, x.data(), 0, x.size() * 4); }
    void run(void* backend) {
        if (g_.graph_compute(backend, graph_) != 0) throw Error("ggml", "graph not computed", "status 0");
    }
    std::vector<float> last_y(std::int64_t rows) {
        std::vector<float> y(static_cast<std::size_t>(rows));
        g_.tensor_get(y_, y.data(), 0, y.size() * 4);
        return y;
    }

  private:
    const Ggml& g_;
    void *context_ = nullptr, *x_ = nullptr, *y_ = nullptr, *graph_ = nullptr;
    std::vector<void*> weights_, buffers_;
    bool supported_ = false;
};

std::vector<float> normal_vector() {
    std::mt19937 rng(5);
    std::normal_distribution<float> normal;
    std::vector<float> x(kK);
    for (float& v : x) v = normal(rng);
    return x;
}

double process_cpu_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/// Wall seconds of ggml's run; under load the CPU clock, as for ours, spread evenly over its threads.
double ggml_seconds(Products& p, void* backend, int threads) {
    for (int tries = 0;; ++tries) {
        const double wall = wall_seconds(), cpu = process_cpu_seconds();
        p.run(backend);
        const double took = wall_seconds() - wall, used = (process_cpu_seconds() - cpu) / threads;
        if (used >= RunTime::kCleanShare * took) return took;
        if (tries == kTries) return used;
    }
}

/// Largest difference of results over the largest result: both round activations to 8 bits in their own way.
double disagreement(const Ggml& g, const Type& t, void* buffer_type, void* backend) {
    constexpr std::int64_t kFew = 256;
    Products p(g, t, buffer_type, 1, kFew);
    const std::vector<float> x = normal_vector();
    p.set_x(x);
    p.run(backend);
    const std::vector<float> theirs = p.last_y(kFew);
    const auto blocks = random_blocks(t, kFew, 1);
    const Panels panels =
        pack(matrix_of_ggml(static_cast<std::uint32_t>(t.id), kFew, kK, std::as_bytes(std::span(blocks))));
    std::vector<float> ours(kFew);
    matmul(best_kernels(), panels, quantize_activations(x, 1, t.format, 1), ours);
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        worst = std::max(worst, std::fabs(static_cast<double>(ours[i] - theirs[i])));
        largest = std::max(largest, std::fabs(static_cast<double>(ours[i])));
    }
    return worst / largest;
}

struct Options {
    std::string folder;
    int rounds = 7, gib = 1;
    std::vector<int> threads = {1, 2};
};

void compare(const Ggml& g, const Options& o, const Type& t, int threads, void* backend,
             const std::vector<std::pair<std::string, void*>>& buffer_types) {
    ThreadTeam team(threads);
    const std::size_t matrix = static_cast<std::size_t>(kRows * kK / t.block_len * t.block_bytes);
    const auto matrices = static_cast<int>(((static_cast<std::size_t>(o.gib) << 30) + matrix - 1) / matrix);
    const HugeBuffer set = working_set(static_cast<std::size_t>(o.gib) << 30, 1);
    Paired paired(team, set, best_kernels());
    const auto blocks = random_blocks(t, kRows, 1);
    const QuantMatrix plain =
        matrix_of_ggml(static_cast<std::uint32_t>(t.id), kRows, kK, std::as_bytes(std::span(blocks)));
    std::vector<Panels> ours;
    for (int i = 0; i < matrices; ++i) ours.push_back(pack(plain));
    const std::vector<float> x = normal_vector();
    const Activations a = quantize_activations(x, 1, t.format, 1);
    std::vector<float> y(kRows);
    const double bytes = static_cast<double>(matrix) * matrices;
    g.cpu_set_n_threads(backend, threads);
    std::vector<double> our_ratios;
    std::vector<std::vector<double>> their_ratios(buffer_types.size());
    for (std::size_t b = 0; b < buffer_types.size(); ++b) {
        Products theirs(g, t, buffer_types[b].second, matrices, kRows);
        if (!theirs.supported()) continue;
        theirs.set_x(x);
        for (int round = -1; round < o.rounds; ++round) {
            const double before = paired.read_rate(), rate = bytes / ggml_seconds(theirs, backend, threads),
                         after = paired.read_rate();
            const double ratio = paired.ratio(bytes, [&](int thread) {
                for (const Panels& p : ours) {
                    const Range mine = share_of(static_cast<std::size_t>(p.panels()), thread, threads);
                    matmul(best_kernels(), p, a, y,
                           {static_cast<std::int64_t>(mine.first), static_cast<std::int64_t>(mine.last)});
                }
            });
            if (round < 0) continue;
            their_ratios[b].push_back(rate / ((before + after) / 2));
            our_ratios.push_back(ratio);
        }
        const double mine = median(our_ratios), their = median(their_ratios[b]);
        fmt::print("| {} | {} | {:<10} | {:.3f} | {:.3f} | {:.2f} | {:.2e} | {:.1f} | {} |\n", t.name,
                   threads, buffer_types[b].first, mine, their, mine / their,
                   disagreement(g, t, buffer_types[b].second, backend), median(paired.reads()) / 1e9,
                   paired.unclean());
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CLI::App app("Matrix-vector products: ggml's shared libraries against our kernels.");
    app.add_option("folder", o.folder, "where libggml-base.so and libggml-cpu*.so are")->required();
    app.add_option("--rounds", o.rounds, "samples of each")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000));
    app.add_option("--gib", o.gib, "weights of each")->capture_default_str()->check(CLI::Range(1, 64));
    app.add_option("--threads", o.threads, "thread counts")->capture_default_str()->delimiter(',');
    CLI11_PARSE(app, argc, argv);
    try {
        const Ggml g = load(o.folder);
        void* backend = g.cpu_init();
        std::vector<std::pair<std::string, void*>> buffer_types = {{"row-major", g.cpu_buffer_type()}};
        if (const auto extra = reinterpret_cast<void** (*)(void*)>(
                g.reg_get_proc_address(g.cpu_reg(), "ggml_backend_dev_get_extra_bufts")))
            if (void** types = extra(g.reg_dev_get(g.cpu_reg(), 0)); types != nullptr)
                for (int i = 0; types[i] != nullptr; ++i)
                    buffer_types.emplace_back(g.buft_name(types[i]), types[i]);
        fmt::print("ours: {}; ggml: {}; {} GiB each, {} rounds\n\n", best_kernels().isa, g.cpu_library, o.gib,
                   o.rounds);
        fmt::print(
            "| type | threads | ggml's layout | ours, x read | ggml, x read | ours / ggml | largest "
            "difference | read GB/s | on the CPU clock |\n");
        fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
        for (const int threads : o.threads)
            for (const Type& t : kTypes) compare(g, o, t, threads, backend, buffer_types);
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "ggml_bench: {}\n", e.what());
        return 2;
    }
}
