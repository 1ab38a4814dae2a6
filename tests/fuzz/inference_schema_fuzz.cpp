// Any JSON as a schema for constrained decoding, up to the first byte 0; what follows chooses tokens. What was compiled
// never allows a text that does not parse or, as far as the other engine reads the schema, does not validate.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/inference/constrain/schema_compiler.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json_schema/json_schema.hpp"
#include "tests/inference/constrain/walks.hpp"

using namespace stackgate;
using namespace stackgate::inference;

namespace {

void fail(std::string_view schema, std::string_view text, std::string_view why) {
  std::fprintf(stderr, "%.*s\n%.*s\n%.*s\n", static_cast<int>(schema.size()), schema.data(),
               static_cast<int>(text.size()), text.data(), static_cast<int>(why.size()), why.data());
  std::abort();
}

void judge(std::string_view schema, const std::string& text) {
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root && root.error().message.starts_with("duplicate key")) return;  // of objects that name no properties
  if (!root) fail(schema, text, root.error().message);
  const auto other = validate::JsonSchema::compile(schema, validate::Draft::v7);
  if (!other) return;
  for (const auto& fault : other->check(*root)) fail(schema, text, fault.problem);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view schema = input.substr(0, input.find('\0'));
  json::Document document;
  const auto root = json::parse(schema, document, {.max_depth = 64, .max_bytes = 1U << 16U});
  if (!root) return 0;
  const auto grammar = compile_schema(*root, "schema");
  if (!grammar) {
    if (grammar.error().empty()) std::abort();
    for (const auto& finding : grammar.error())
      if (finding.problem.empty() || finding.fix.empty()) std::abort();
    return 0;
  }
  testing::Dice dice(std::span(data, size).subspan(schema.size()));
  if (const auto text = test::walk(*grammar, dice, size - schema.size())) judge(schema, *text);
  return 0;
}
