// Any text through a small tokenizer of each kind: ids with and without spans and cache are the same, spans lie in the
// text in order, streams are whole UTF-8 at every token, byte-level text comes back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "services/kit/base/utf8.hpp"
#include "services/model/tokenizer/byte_alphabet.hpp"
#include "services/model/tokenizer/encoder.hpp"
#include "services/model/tokenizer/read.hpp"
#include "services/model/tokenizer/stream_decoder.hpp"

using namespace stackgate;
using namespace stackgate::tokenizer;

namespace {

std::string byte_vocabulary(bool alphabet) {
  std::string out;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<unsigned char>(byte));
    const std::string text = alphabet ? alphabet_text(std::string_view(&c, 1)) : fmt::format("<0x{:02X}>", byte);
    out += fmt::format("{}\"{}{}\":{}", byte == 0 ? "" : ",", text == "\"" || text == "\\" ? "\\" : "", text, byte);
  }
  return out;
}

std::shared_ptr<const Tokenizer> made(const std::string& json) {
  TokenizerRead read = read_tokenizer(json);
  if (!read.findings.empty()) std::abort();
  return std::make_shared<const Tokenizer>(std::move(read.description));
}

std::shared_ptr<const Tokenizer> byte_level() {
  return made(
      R"j({"added_tokens":[{"id":300,"content":"<x>","special":true,"lstrip":true},{"id":301,"content":"é","normalized":true}],)j"
      R"j("normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)j"
      R"j("(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},)j"
      R"j("behavior":"Isolated"},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]},)j"
      R"j("decoder":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{)j" +
      byte_vocabulary(true) + R"j(,"aa":256,"ab":257,"aaab":258,"ĠĠ":259},"merges":["a a","a b","aa ab","Ġ Ġ"]}})j");
}

std::shared_ptr<const Tokenizer> byte_fallback() {
  return made(
      R"j({"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"},{"type":"Prepend","prepend":"▁"},)j"
      R"j({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},"decoder":{"type":"Sequence","decoders":[)j"
      R"j({"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},)j"
      R"j({"type":"Strip","content":" ","start":1,"stop":0}]},"model":{"type":"BPE","byte_fallback":true,"vocab":{)j" +
      byte_vocabulary(false) +
      R"j(,"▁":256,"a":257,"b":258,"▁a":259,"ab":260,"▁▁":261},"merges":["▁ ▁","a b","▁ a"]}})j");
}

std::shared_ptr<const Tokenizer> metaspace() {
  return made(
      R"j({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"Metaspace","prepend_scheme":"first"}]},)j"
      R"j("decoder":{"type":"Metaspace"},"model":{"type":"BPE","unk_token":"?","fuse_unk":true,"vocab":)j"
      R"j({"?":0,"▁":1,"a":2,"▁a":3,"aa":4},"merges":["a a","▁ a"]}})j");
}

void check(const std::shared_ptr<const Tokenizer>& tokenizer, std::string_view text, bool comes_back) {
  Encoder cached(tokenizer, 16), plain(tokenizer, 0);
  const auto ids = cached.encode(text), again = cached.encode(text), other = plain.encode(text);
  const auto spans = plain.encode_with_spans(text);
  if (!ids || !spans || !again || !other || *again != *ids || *other != *ids || spans->size() != ids->size())
    std::abort();
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < ids->size(); ++i) {
    const TokenSpan& span = (*spans)[i];
    if (span.id != (*ids)[i] || span.begin < at || span.end < span.begin || span.end > text.size()) std::abort();
    at = span.begin;
  }
  StreamDecoder stream(*tokenizer, {.skip_special_tokens = false});
  std::string all;
  for (const TokenId id : *ids) {
    stream.push(id, all);
    if (!utf8::is_valid(all)) std::abort();
  }
  stream.finish(all);
  if (all != tokenizer->decode(*ids, {.skip_special_tokens = false})) std::abort();
  if (comes_back && all != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto bytes = byte_level(), fallback = byte_fallback(), spaces = metaspace();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!utf8::is_valid(text)) {
    if (Encoder(bytes, 0).encode(text)) std::abort();
    return 0;
  }
  const bool ascii = std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) >= 0; });
  check(bytes, text, ascii && !text.contains("<x>"));
  check(fallback, text, false);
  check(spaces, text, false);
  return 0;
}
