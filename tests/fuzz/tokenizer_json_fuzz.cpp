// Any bytes as a tokenizer.json: it is refused with findings, or it encodes and decodes without a fault.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "services/kit/base/utf8.hpp"
#include "services/model/tokenizer/encoder.hpp"
#include "services/model/tokenizer/read.hpp"

using namespace stackgate;
using namespace stackgate::tokenizer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  TokenizerRead read = read_tokenizer(json);
  if (validate::has_errors(read.findings)) {
    for (const auto& finding : read.findings)
      if (finding.path.empty() || finding.problem.empty() || finding.fix.empty()) std::abort();
    return 0;
  }
  const auto tokenizer = std::make_shared<const Tokenizer>(std::move(read.description));
  Encoder encoder(tokenizer, 16);
  for (const std::string_view text : {"hello  World 123\n\u00e9\u4e00\U0001f600<x>", "", " a a aaa", "\u2581\u2581a"}) {
    const auto ids = encoder.encode(text);
    const auto spans = encoder.encode_with_spans(text);
    if (!ids || !spans) continue;
    if (ids->size() != spans->size()) std::abort();
    for (const TokenSpan& span : *spans)
      if (span.begin > span.end || span.end > text.size()) std::abort();
    if (!utf8::is_valid(tokenizer->decode(*ids))) std::abort();
  }
  return 0;
}
