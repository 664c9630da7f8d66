#include "core/quality/evidence.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/quality/words.h"
#include "tests/catch.h"
#include "tests/quality/weighed.h"

using namespace memwall;
using namespace memwall::quality;
using Catch::Contains;

namespace {

const char* const kOwnRows = R"(schema: memwall/quality-evidence/1
id: phi-4
sources: ["measured on the build machine, 2026-11-30"]
tables:
- head: {model: phi-4, metric: KLD mean, baseline: 0, context: 8192, source: 0}
  rows: |
    mine-1 - y 0.0142 Q4_K_M
- head: {model: phi-4, group: kv, metric: KLD mean, baseline: 0, source: 0}
  rows: |
    mine-2 - ? 0.0021 KV q8_0/q8_0
)";

struct File {
    std::string path;
    explicit File(const std::string& text)
        : path((std::filesystem::temp_directory_path() / "memwall-evidence-test.yaml").string()) {
        std::ofstream(path) << text;
    }
    ~File() { std::filesystem::remove(path); }
};

std::string error_of(const std::string& yaml) {
    try {
        read_evidence(yaml, "mine.yaml");
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("all rows are embedded with their ids and sources, in under 300 kB", "[quality]") {
    std::map<RowGroup, int> groups;
    std::set<std::string> ids;
    for (const auto& file : all_evidence())
        for (const EvidenceRow& r : file->rows) {
            ++groups[r.group];
            ids.insert(r.id);
            CHECK(r.source.find("http") == 0);
        }
    // The counts of the collection of November 2026 (its 97 rows on speculative decoding belong to speed).
    CHECK(groups[RowGroup::weights] == 1668);
    CHECK(groups[RowGroup::kv] == 126);
    CHECK(groups[RowGroup::window] == 20);
    CHECK(groups[RowGroup::pruning] == 28);
    CHECK(ids.size() == 1668 + 126 + 20 + 28);
    std::size_t bytes = 0;
    for (const EmbeddedFile& f : embedded_quality()) bytes += f.text().size();
    CHECK(bytes < 300'000);
}

TEST_CASE("metrics of all kinds become the same numbers", "[quality]") {
    const auto row = [](const char* metric, double value, std::optional<double> baseline) {
        EvidenceRow r;
        r.metric = metric;
        r.value = value;
        r.baseline = baseline;
        return r;
    };
    CHECK(std::abs(*ln_ppl_ratio(row("ppl wikitext2", 6.0, 5.0)) - std::log(1.2)) < 1e-12);
    CHECK(std::abs(*ln_ppl_ratio(row("ppl increase %", 20, 0.0)) - std::log(1.2)) < 1e-12);
    CHECK(std::abs(*ln_ppl_ratio(row("ppl ratio", 1.2, 1.0)) - std::log(1.2)) < 1e-12);
    CHECK(*ln_ppl_ratio(row("ln ppl ratio", 0.18, 0.0)) == 0.18);
    // A word is 1.3 tokens: the word level overstates (QUALITY a.6).
    CHECK(std::abs(*ln_ppl_ratio(row("ppl wikitext2 (word level, lm-eval)", 6.0, 5.0)) -
                   std::log(1.2) / 1.3) < 1e-12);
    CHECK_FALSE(ln_ppl_ratio(row("ppl wikitext2", 6.0, std::nullopt)));
    CHECK_FALSE(ln_ppl_ratio(row("delta ppl", 0.3, 0.0)));
    CHECK(*mean_kld(row("KLD mean", 0.03, 0.0)) == 0.03);
    // Other texts are other scales: 20 to 100 times (QUALITY a.5).
    CHECK_FALSE(mean_kld(row("KLD mean over six chat domains (top-40 tokens)", 0.16, 0.0)));
    CHECK_FALSE(mean_kld(row("KLD mean, long documents", 0.47, 0.0)));
    CHECK(is_task(row("MMLU 5-shot", 65, 66.0)));
    CHECK_FALSE(is_task(row("KLD 99%", 1, 0.0)));
}

TEST_CASE("a user's own rows win over estimates and over refusals", "[quality]") {
    const File file(kOwnRows);
    RecipeInfo info;
    info.evidence_files = {file.path};
    const auto before = test::weigh("phi-4", "Q4_K_M");
    const auto after = test::weigh("phi-4", "Q4_K_M", Imatrix::unknown, info);
    REQUIRE(before.quality.loss.status == Status::estimated);
    CHECK(after.quality.loss.status == Status::measured);
    CHECK(after.quality.loss.flags & kUserRow);
    CHECK(after.quality.loss.kld.central == 0.0142);
    CHECK(after.quality.evidence == std::vector<std::string>{"mine-1"});
    CHECK(after.quality.measured_context == 8192);
    KvChoice q8;
    q8.keys = q8.values = KvClass::q8;
    CHECK(std::abs(combine(after.quality, q8).kld.central - 0.0163) < 1e-9);
    CHECK(combine(after.quality, q8).status == Status::measured);
    // Another recipe and another model are not touched.
    CHECK(test::weigh("phi-4", "Q5_K_M", Imatrix::unknown, info).quality.loss.status == Status::estimated);
    CHECK_FALSE(test::weigh("qwen3-8b", "Q4_K_M", Imatrix::unknown, info).quality.loss.flags & kUserRow);

    std::string low(kOwnRows);
    low.replace(low.find("Q4_K_M"), 6, "Q2_K");
    const File other(low);
    info.evidence_files = {other.path};
    CHECK(test::weigh("phi-4", "Q2_K", Imatrix::unknown, info).quality.loss.status == Status::measured);
}

TEST_CASE("a fine-tune of the same shape inherits no rows", "[quality]") {
    CHECK(evidence_id(test::unknown_model("llama-3-8b", "llama-3-8b")) == "llama-3-8b");
    CHECK(evidence_id(test::unknown_model("llama-3-8b", "Llama-3-8B-Instruct-Q4_K_M.gguf")) == "llama-3-8b");
    CHECK(evidence_id(test::unknown_model("llama-3-8b", "Llama-3-8B-Lawyer")).empty());
    CHECK(evidence_id(test::unknown_model("llama-2-7b", "llama-3-8b")).empty());
}

TEST_CASE("broken evidence files say where and what", "[quality]") {
    const std::string head = "schema: memwall/quality-evidence/1\nid: x\nsources: [a]\ntables:\n";
    CHECK_THAT(error_of("id: x\n"), Contains("schema"));
    CHECK_THAT(error_of("{"), Contains("mine.yaml:"));
    CHECK_THAT(error_of(head + "- head: {model: x}\n"), Contains("mine.yaml:5"));
    CHECK_THAT(
        error_of(head + "- head: {model: x, metric: KLD mean, source: 3}\n  rows: |\n    a - y 1 Q4_0\n"),
        Contains("source 3"));
    CHECK_THAT(
        error_of(head + "- head: {model: x, metric: KLD mean, source: 0}\n  rows: |\n    a - y zero Q4_0\n"),
        Contains("'zero'"));
    CHECK_THAT(
        error_of(head + "- head: {model: x, metric: KLD mean, source: 0}\n  rows: |\n    a - y nan Q4_0\n"),
        Contains("'nan'"));
    CHECK_THAT(
        error_of(head + "- head: {model: x, metric: KLD mean, source: 0}\n  rows: |\n    a - maybe 1 Q4_0\n"),
        Contains("mine.yaml:7") && Contains("y|n|?"));
    CHECK_THAT(
        error_of(head +
                 "- head: {model: x, group: soup, metric: KLD mean, source: 0}\n  rows: |\n    a - y 1 Q\n"),
        Contains("'soup'"));
}
