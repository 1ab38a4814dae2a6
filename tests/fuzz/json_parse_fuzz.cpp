// Any bytes: the parser takes what nlohmann's takes, with the same content, but for what it refuses on purpose. Its
// errors lie in the text, and what it took is read back the same after it was written.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace {

using stackgate::json::Value;

bool same_number(const Value& ours, const nlohmann::json& theirs) {
  if (ours.is_integer())
    return theirs.is_number_integer() ? theirs.get<std::int64_t>() == ours.integer()
                                      : theirs.get<double>() == ours.number();
  return theirs.get<double>() == ours.number();
}

bool same(const Value& ours, const nlohmann::json& theirs) {
  if (ours.is_number()) return theirs.is_number() && same_number(ours, theirs);
  if (ours.is_string()) return theirs.is_string() && theirs.get_ref<const std::string&>() == ours.string();
  if (ours.is_boolean()) return theirs.is_boolean() && theirs.get<bool>() == ours.boolean();
  if (ours.is_null()) return theirs.is_null();
  if (ours.is_array()) {
    if (!theirs.is_array() || theirs.size() != ours.items().size()) return false;
    for (std::size_t i = 0; i < theirs.size(); ++i)
      if (!same(ours.items()[i], theirs[i])) return false;
    return true;
  }
  if (!theirs.is_object() || theirs.size() != ours.members().size()) return false;
  for (const auto& member : ours.members()) {
    const auto other = theirs.find(std::string(member.key));
    if (other == theirs.end() || !same(member.value, *other)) return false;
  }
  return true;
}

/// What nlohmann takes: a key twice (the last counts), a byte order mark, any depth, anything behind a NUL.
bool is_on_purpose(std::string_view text, const std::string& message) {
  return text.contains('\0') || message.starts_with("duplicate key ") || message.starts_with("nested deeper ") ||
         message.contains("byte order mark");
}

void demand(bool holds, const char* what, const std::string& message) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, message.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nlohmann::json theirs = nlohmann::json::parse(text, nullptr, false);
  static json::Document document;
  const auto tree = json::parse(text, document);
  if (!tree) {
    const json::ParseError& error = tree.error();
    demand(error.offset <= size && !error.message.empty(), "an error without place or words", error.message);
    demand(theirs.is_discarded() || is_on_purpose(text, error.message), "only we refuse", error.message);
    return 0;
  }
  const std::string written = json::to_json(*tree);
  demand(!theirs.is_discarded(), "only we take", written);
  demand(same(*tree, theirs), "we read otherwise", written);
  json::Document second;
  const auto again = json::parse(written, second);
  demand(again && json::equal(*tree, *again), "not read back the same", written);
  return 0;
}
