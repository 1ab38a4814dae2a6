#include <algorithm>
#include <set>

#include "services/model/tokenizer/read_parts.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::size_t longest_added = 512;  // bytes
constexpr std::size_t most_added = 65536;

}  // namespace

void read_added_tokens(const Component& at, Description& out, Report& report) {
  if (!at.value.is_array() || at.value.items().size() > most_added)
    return report.wrong_type(at, fmt::format("a list of at most {} tokens", most_added));
  std::set<std::string_view> contents;
  std::set<TokenId> ids;
  for (std::size_t i = 0; i < at.value.items().size(); ++i) {
    const Component each{fmt::format("added_tokens[{}]", i), at.value.items()[i]};
    if (!each.value.is_object()) {
      report.wrong_type(each, "an object with \"id\" and \"content\"");
      continue;
    }
    const auto id = report.needed_number(each, "id", 0, most_tokens - 1);
    AddedToken token{.id = id.value_or(0), .content = report.text(each, "content")};
    token.special = report.flag(each, "special", false);
    token.lstrip = report.flag(each, "lstrip", false);
    token.rstrip = report.flag(each, "rstrip", false);
    token.single_word = report.flag(each, "single_word", false);
    token.normalized = report.flag(each, "normalized", !token.special);
    if (token.content.empty() || token.content.size() > longest_added)
      report.wrong("tokenizer-limit", each, "its \"content\" must have 1 to 512 bytes", "write the token's text");
    else if (!contents.insert(each.value.find("content")->string()).second)
      report.wrong("tokenizer-twice", each, "stands twice", "remove one");
    if (id && !ids.insert(*id).second)
      report.wrong("tokenizer-twice", each, fmt::format("the id {} stands twice", *id), "give each token its own id");
    out.added.push_back(std::move(token));
  }
}

}  // namespace stackgate::tokenizer
