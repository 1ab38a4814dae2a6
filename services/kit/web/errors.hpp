// Failures as each API's clients read them. Pure.
//
//   plain   {"error":{"code","message","findings":[…]}}
//   text    the sentences alone                                           git prints them to its user
//   gitea   {"message","url"}                                             Gitea's API
//   lfs     {"message","request_id","documentation_url"}                  git-lfs, docs/api/batch.md
//   hub     {"error"}, X-Error-Code, X-Error-Message                      Hugging Face; clients read the headers
//   openai  {"error":{"message","type","param","code"}}                   OpenAI API, "Error codes"
//   nemo    {"detail": "…"} or {"detail":[{"loc","msg","type"}]} for 422  FastAPI, with "severity"
//   html    a small page
#pragma once
#include <string>
#include <string_view>

#include "services/kit/http/message.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::web {

/// The rule of a finding about a parameter of the query, whose path is "query.<name>".
inline constexpr std::string_view query_rule = "query-parameter";

struct ErrorContext {
  std::string_view request_id{};
  std::string_view documentation{};  // a URL, or empty
};

/// Never fails; a status outside 400 … 599 becomes 500.
http::Response render(const Failure& failure, Dialect dialect, const ErrorContext& context = {});

/// 503 with Retry-After: "`what`; try again in a moment".
Failure busy(std::string_view what, int seconds);

/// The message with every finding behind it, one line each, for dialects that have one text only.
std::string message_with_findings(const Failure& failure);

}  // namespace stackgate::web
