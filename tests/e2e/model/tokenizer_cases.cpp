// tokenizer_cases TOKENIZER_JSON CASES NAME: holds our tokenizer against the lines that tokenizer/oracle.mjs wrote.
// Prints "ok …" or "not ok …", with the first differences.
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "services/kit/base/utf8.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/model/tokenizer/encoder.hpp"
#include "services/model/tokenizer/read.hpp"
#include "services/model/tokenizer/stream_decoder.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::tokenizer;

std::string file_text(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<TokenId> ids_at(const json::Value& line, std::string_view key) {
  std::vector<TokenId> out;
  if (const json::Value* list = line.find(key))
    for (const json::Value& id : list->items()) out.push_back(static_cast<TokenId>(id.integer()));
  return out;
}

/// Each piece is whole UTF-8, and all of them are the whole.
std::string streamed(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  StreamDecoder decoder(tokenizer);
  std::string all, piece;
  for (const TokenId id : ids) {
    piece.clear();
    decoder.push(id, piece);
    if (!utf8::is_valid(piece)) return "a piece that is not UTF-8";
    all += piece;
  }
  decoder.finish(all);
  return all;
}

class Comparison {
 public:
  explicit Comparison(std::shared_ptr<const Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)), encoder_(tokenizer_), small_(tokenizer_, 64) {}

  void line(const json::Value& given) {
    ++lines;
    const std::string text(json::text_at(given, "text"));
    const auto ids = encoder_.encode(text), bare = encoder_.encode(text, {.add_special_tokens = false});
    const auto other = small_.encode(text);
    const auto spans = encoder_.encode_with_spans(text);
    if (!ids || !bare || !other || !spans) return differs(text, "encode", "", "an error");
    same(text, "ids", ids_at(given, "ids"), *ids);
    same(text, "ids without the template", ids_at(given, "bare"), *bare);
    if (*other != *ids) differs(text, "another cache", "", "other ids");
    std::vector<TokenId> of_spans;
    std::uint32_t at = 0;
    for (const TokenSpan& span : *spans) {
      of_spans.push_back(span.id);
      if (span.begin < at || span.end < span.begin || span.end > text.size())
        differs(text, "spans", "", "out of order");
      at = span.begin;
    }
    same(text, "ids of spans", *ids, of_spans);
    const std::string decoded = tokenizer_->decode(*bare);
    if (decoded != json::text_at(given, "decoded")) differs(text, "decode", json::text_at(given, "decoded"), decoded);
    const std::string all = tokenizer_->decode(*bare, {.skip_special_tokens = false});
    if (all != json::text_at(given, "decoded_all"))
      differs(text, "decode all", json::text_at(given, "decoded_all"), all);
    if (streamed(*tokenizer_, *bare) != decoded) differs(text, "stream", decoded, streamed(*tokenizer_, *bare));
    tokens += bare->size();
  }

  std::size_t lines = 0, differences = 0, tokens = 0;

 private:
  void differs(std::string_view text, std::string_view what, std::string_view wanted, std::string_view got) {
    if (++differences > 5) return;
    std::string quoted[3];
    json::append_quoted(quoted[0], text.substr(0, 400));
    json::append_quoted(quoted[1], wanted.substr(0, 400));
    json::append_quoted(quoted[2], got.substr(0, 400));
    fmt::print("  {}: text {} wanted {} got {}\n", what, quoted[0], quoted[1], quoted[2]);
  }
  void same(std::string_view text, std::string_view what, const std::vector<TokenId>& wanted,
            const std::vector<TokenId>& got) {
    if (wanted == got) return;
    std::size_t at = 0;
    while (at < wanted.size() && at < got.size() && wanted[at] == got[at]) ++at;
    const auto shown = [&](const std::vector<TokenId>& ids) {
      std::string out = fmt::format("at {}:", at);
      for (std::size_t i = at; i < ids.size() && i < at + 6; ++i)
        out += fmt::format(" {}={}", ids[i], tokenizer_->token_text(ids[i]));
      return out;
    };
    differs(text, what, shown(wanted), shown(got));
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  Encoder encoder_, small_;
};

/// top_logprobs are keyed by names.
bool names_are_unique(const Tokenizer& tokenizer) {
  std::set<std::string> names;
  for (TokenId id = 0; id < tokenizer.vocab_size() + 10; ++id)
    if (!names.insert(tokenizer.token_name(id)).second) {
      fmt::print("  two tokens are named {:?}\n", tokenizer.token_name(id));
      return false;
    }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  TokenizerRead read = read_tokenizer(file_text(argv[1]));
  for (const auto& finding : read.findings) fmt::print("  {}: {}\n", finding.path, validate::to_line(finding));
  if (validate::has_errors(read.findings)) {
    fmt::print("not ok the tokenizer is read ({})\n", argv[3]);
    return 1;
  }
  const auto tokenizer = std::make_shared<const Tokenizer>(std::move(read.description));
  Comparison comparison(tokenizer);
  const std::string cases = file_text(argv[2]);
  json::Document document;
  for (std::size_t at = 0; at < cases.size();) {
    const std::size_t end = cases.find('\n', at);
    if (auto line = json::parse(std::string_view(cases).substr(at, end - at), document)) comparison.line(*line);
    at = end == std::string::npos ? cases.size() : end + 1;
  }
  const bool unique = names_are_unique(*tokenizer);
  fmt::print("{}ok each token has a name of its own ({})\n", unique ? "" : "not ", argv[3]);
  const bool good = comparison.lines > 0 && comparison.differences == 0;
  fmt::print("{}ok {} texts, {} tokens, as Hugging Face's tokenizer has them; {} differences ({})\n",
             good ? "" : "not ", comparison.lines, comparison.tokens, comparison.differences, argv[3]);
  return good && unique ? 0 : 1;
}
