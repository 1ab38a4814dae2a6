#include "services/model/tokenizer/read.hpp"

#include "services/kit/json/document.hpp"
#include "services/model/tokenizer/read_parts.hpp"

namespace stackgate::tokenizer {

std::string_view component_type(const Component& at, Report& report) {
  const json::Value* type = at.value.find("type");
  if (type != nullptr && type->is_string()) return type->string();
  report.wrong("tokenizer-type", at, "must be an object with a \"type\"", "write {\"type\": …}");
  return {};
}

TokenizerRead read_tokenizer(std::string_view json) {
  TokenizerRead read;
  Report report(read.findings, "tokenizer.json", {"tokenizer-type", "tokenizer-missing", "tokenizer-not-served"});
  json::Document document;
  const auto root = report.parse("tokenizer-json", json, document, {.max_depth = 64, .max_bytes = largest_file});
  if (!root) return read;
  const Component top{{}, *root};
  const auto part = [&](std::string_view key, auto&& reader) {
    if (const json::Value* found = Report::present(top, key))
      reader(Component{std::string(key), *found}, read.description, report);
  };
  part("normalizer", [](auto&&... args) { read_normalizer(args...); });
  part("pre_tokenizer", [](auto&&... args) { read_pre_tokenizer(args...); });
  part("decoder", read_decoder);
  if (Report::present(top, "decoder") == nullptr)
    report.wrong("tokenizer-missing", top, "lacks \"decoder\"", "write the decoder of the pre-tokenizer, as ByteLevel");
  part("added_tokens", read_added_tokens);
  part("model", read_model);
  if (Report::present(top, "model") == nullptr)
    report.wrong("tokenizer-missing", top, "lacks \"model\"", "write the BPE model: \"model\": {\"type\": \"BPE\", …}");
  else if (!report.failed())
    part("post_processor", [](auto&&... args) { read_post_processor(args...); });
  return read;
}

}  // namespace stackgate::tokenizer
