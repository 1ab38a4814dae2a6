#include "services/kit/web/errors.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/base/escape_html.hpp"
#include "services/kit/http/writer.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::web {
namespace errors_detail {

std::string problem_of(const validate::Finding& finding) {
  std::string text = finding.problem;
  if (!finding.value.empty()) text.append(" (value: ").append(finding.value).append(")");
  return text;
}

bool is_warning(const validate::Finding& finding) { return finding.severity == validate::Severity::warning; }

std::string line_of(const validate::Finding& finding) {
  std::string text = finding.path.empty() ? std::string() : finding.path + ": ";
  if (is_warning(finding)) text += "warning: ";
  return text + to_line(finding);
}

void write_findings(json::Writer& w, const validate::Findings& findings) {
  w.array("findings", [&] {
    for (const validate::Finding& finding : findings) {
      w.object([&] {
        w.member("rule", finding.rule);
        w.member("severity", is_warning(finding) ? "warning" : "error");
        w.member("path", finding.path);
        w.member("message", problem_of(finding));
        w.member("fix", finding.fix);
      });
    }
  });
}

// "Not Found" → "NotFound", for the plain dialect's code.
std::string word_for(int status) {
  std::string word(http::reason_phrase(status));
  std::erase_if(word, [](char c) { return c == ' ' || c == '-' || c == '\''; });
  return word;
}

struct Writing {
  const Failure& failure;
  const ErrorContext& context;
  int status;
};

std::string plain(const Writing& given) {
  return json::object_text([&](json::Writer& w) {
    w.object("error", [&] {
      w.member("code", given.failure.code.empty() ? word_for(given.status) : given.failure.code);
      w.member("message", given.failure.message);
      if (!given.failure.findings.empty()) write_findings(w, given.failure.findings);
      if (!given.context.request_id.empty()) w.member("request_id", given.context.request_id);
    });
  });
}

std::string gitea(const Writing& given) {
  return json::object_text([&](json::Writer& w) {
    w.member("message", message_with_findings(given.failure));
    w.member("url", given.context.documentation);
  });
}

std::string lfs(const Writing& given) {
  return json::object_text([&](json::Writer& w) {
    w.member("message", message_with_findings(given.failure));
    if (!given.context.request_id.empty()) w.member("request_id", given.context.request_id);
    if (!given.context.documentation.empty()) w.member("documentation_url", given.context.documentation);
  });
}

std::string hub(const Writing& given) {
  return json::object_text([&](json::Writer& w) { w.member("error", message_with_findings(given.failure)); });
}

std::string_view openai_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string openai(const Writing& given) {
  const auto& findings = given.failure.findings;
  return json::object_text([&](json::Writer& w) {
    w.object("error", [&] {
      w.member("message", message_with_findings(given.failure));
      w.member("type", given.failure.type.empty() ? openai_type(given.status) : given.failure.type);
      if (findings.empty() || findings.front().path.empty())
        w.member("param", nullptr);
      else
        w.member("param", findings.front().path);
      if (given.failure.code.empty())
        w.member("code", given.status);
      else
        w.member("code", given.failure.code);
    });
  });
}

// spec.items[2].name → ["body","spec","items",2,"name"]; query.page of a parameter → ["query","page"]
void write_location(json::Writer& w, const validate::Finding& finding) {
  std::string_view path = finding.path;
  if (finding.rule != query_rule) w.value("body");
  while (!path.empty()) {
    if (path[0] == '.') {
      path.remove_prefix(1);
      continue;
    }
    if (path[0] == '[') {
      const auto close = std::min(path.find(']'), path.size());
      const std::string_view inside = path.substr(1, close - 1);
      path.remove_prefix(std::min(close + 1, path.size()));
      const bool index = !inside.empty() && inside.size() < 10 && inside.find_first_not_of("0123456789") == inside.npos;
      if (index)
        w.value(static_cast<std::int64_t>(std::stoll(std::string(inside))));
      else
        w.value(inside);
      continue;
    }
    const auto end = std::min(path.find_first_of(".["), path.size());
    w.value(path.substr(0, end));
    path.remove_prefix(end);
  }
}

std::string nemo(const Writing& given) {
  return json::object_text([&](json::Writer& w) {
    if (given.failure.findings.empty()) return w.member("detail", given.failure.message);
    w.array("detail", [&] {
      for (const validate::Finding& finding : given.failure.findings) {
        w.object([&] {
          w.array("loc", [&] { write_location(w, finding); });
          std::string text = is_warning(finding) ? "warning: " : "";
          text += problem_of(finding);
          if (!finding.fix.empty()) text.append("; ").append(finding.fix);
          w.member("msg", text);
          w.member("type", finding.rule);
          w.member("severity", is_warning(finding) ? "warning" : "error");
        });
      }
    });
  });
}

std::string html(const Writing& given) {
  const std::string title = fmt::format("{} {}", given.status, http::reason_phrase(given.status));
  std::string faults;
  for (const validate::Finding& finding : given.failure.findings)
    faults += fmt::format("<li>{}</li>\n", escape_html(line_of(finding)));
  if (!faults.empty()) faults = "<ul>\n" + faults + "</ul>\n";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{0}</title>\n<h1>{0}</h1>\n<p>{1}</p>\n"
      "{2}<p><small>Request {3}</small></p>\n</html>\n",
      escape_html(title), escape_html(given.failure.message), faults, escape_html(given.context.request_id));
}

std::string sentences(const Writing& given) { return message_with_findings(given.failure) + "\n"; }

struct Form {
  std::string_view content_type;
  std::string (*body)(const Writing& given);
};
/// By Dialect.
constexpr std::array<Form, 8> forms{{{"application/json", plain},
                                     {"text/plain; charset=utf-8", sentences},
                                     {"application/json", gitea},
                                     {"application/vnd.git-lfs+json", lfs},
                                     {"application/json", hub},
                                     {"application/json", openai},
                                     {"application/json", nemo},
                                     {"text/html; charset=utf-8", html}}};

// A header is one line of ASCII.
std::string header_text(std::string_view text) {
  std::string out(text.substr(0, 512));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = ' ';
  }
  return out;
}

}  // namespace errors_detail

Failure busy(std::string_view what, int seconds) {
  return {.status = 503,
          .message = fmt::format("{}; try again in a moment", what),
          .headers = {{"Retry-After", std::to_string(seconds)}}};
}

std::string message_with_findings(const Failure& failure) {
  std::string text = failure.message;
  for (const validate::Finding& finding : failure.findings) {
    text += '\n';
    text += errors_detail::line_of(finding);
  }
  return text;
}

http::Response render(const Failure& failure, Dialect dialect, const ErrorContext& context) {
  using namespace errors_detail;
  http::Response response;
  response.status = failure.status >= 400 && failure.status <= 599 ? failure.status : 500;
  response.headers = failure.headers;
  const Form& form = forms[static_cast<std::size_t>(dialect)];
  response.content_type = form.content_type;
  response.body = form.body({failure, context, response.status});
  if (dialect == Dialect::hub) {
    if (!failure.code.empty()) response.headers.emplace_back("X-Error-Code", header_text(failure.code));
    response.headers.emplace_back("X-Error-Message", header_text(failure.message));
  } else if (dialect == Dialect::html) {
    response.headers.emplace_back("Content-Security-Policy", "default-src 'none'");
  }
  return response;
}

}  // namespace stackgate::web
