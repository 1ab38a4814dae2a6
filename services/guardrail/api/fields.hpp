// Members of a request's body, read one by one; what is wrong is gathered. null reads as absent, as OpenAI's clients
// mean it. Faults of the guardrail's own members are 422, those of OpenAI's are 400: the rule's name says which.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/json_report.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::guardrail {

enum class Whose : std::uint8_t { openai, guardrails };

/// One object of a body. It and what it was made of must outlive it.
class Fields {
 public:
  Fields(validate::JsonPlace at, validate::Findings& findings, Whose whose);

  /// nullptr: absent.
  const json::Value* find(std::string_view key) const { return validate::JsonReport::present(at_, key); }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const validate::JsonPlace& at() const { return at_; }
  /// Of a member that may be missing.
  validate::JsonPlace place(std::string_view key) const;

  bool flag(std::string_view key, bool fallback = false) { return report_.flag(at_, key, fallback); }
  std::string text(std::string_view key) { return report_.text(at_, key); }
  /// Of at most `most` texts; one text alone is a list of one where `or_one` says so.
  std::vector<std::string> texts(std::string_view key, std::size_t most, bool or_one = false);
  /// Its JSON, or "" when it is absent; it must be an object or a list, as `wanted` says.
  std::string tree(std::string_view key, json::Type wanted);
  /// The member as an object; nothing when it is absent or, with a finding, none.
  std::optional<validate::JsonPlace> object(std::string_view key);

  void missing(std::string_view key, std::string fix);
  void wrong(const validate::JsonPlace& at, std::string problem, std::string fix);
  void wrong(std::string_view key, std::string problem, std::string fix) {
    wrong(place(key), std::move(problem), std::move(fix));
  }
  void wrong_type(const validate::JsonPlace& at, std::string_view wanted) { report_.wrong_type(at, wanted); }
  void not_served(const validate::JsonPlace& at, std::string problem, std::string fix);

 private:
  validate::JsonPlace at_;
  Whose whose_;
  validate::JsonReport report_;
};

/// 422 when a member of the guardrail's own is among the faults, else OpenAI's 400; every fault in one message, and
/// `param` is the first one's member.
web::Failure refuse(validate::Findings findings);

}  // namespace stackgate::guardrail
