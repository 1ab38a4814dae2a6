// Members of a request's body, read one by one; what is wrong is gathered. null reads as absent, as OpenAI's clients
// mean it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/sampling/parameters.hpp"
#include "services/kit/findings/json_report.hpp"

namespace stackgate::inference {

/// The body, `root`, must outlive it.
class Fields {
 public:
  Fields(const json::Value& root, validate::Findings& findings);

  /// nullptr: absent.
  const json::Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Whether it asks for anything: not for absent, false, "", [] and {}.
  bool asks(std::string_view key) const;
  validate::JsonPlace place(std::string_view key) const;

  std::optional<std::uint32_t> whole(std::string_view key, std::uint32_t least, std::uint32_t most);
  /// Changes `value` only when it is given and right.
  void real(std::string_view key, double least, double most, float& value);
  bool flag(std::string_view key, bool fallback = false);
  std::string text(std::string_view key);
  /// Must be there, and not empty.
  std::string needed_text(std::string_view key);
  /// A list of token ids below `vocabulary`, at most `most` of them; or what is wrong with it, at its place.
  std::vector<TokenId> ids(const validate::JsonPlace& at, std::uint32_t vocabulary, std::size_t most);
  /// Its JSON, or "" when it is absent; it must be an object or a list, as `wanted` says.
  std::string tree(std::string_view key, json::Type wanted);

  void missing(std::string_view key, std::string fix);
  /// A value that is out of bounds, or at odds with another one.
  void wrong(const validate::JsonPlace& at, std::string problem, std::string fix);
  void wrong(std::string_view key, std::string problem, std::string fix);
  void wrong_type(const validate::JsonPlace& at, std::string_view wanted) { report_.wrong_type(at, wanted); }
  /// Something of the API that this server does not do.
  void not_served(const validate::JsonPlace& at, std::string problem, std::string fix);

 private:
  validate::JsonPlace top_;
  validate::JsonReport report_;
};

}  // namespace stackgate::inference
