#include "services/kit/schema/pattern.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <re2/re2.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/duration.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/image.hpp"
#include "services/kit/grammar/integer_text.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/path_names.hpp"
#include "services/kit/grammar/quantity.hpp"
#include "services/kit/grammar/unrendered.hpp"
#include "services/kit/grammar/url.hpp"

namespace stackgate::validate::schema {
namespace {

template <auto parse>
std::optional<grammar::Problem> problem_of(std::string_view text) {
  auto parsed = parse(text);
  return parsed ? std::nullopt : std::optional(std::move(parsed.error()));
}

std::optional<grammar::Problem> check_amount(std::string_view text) {
  const auto parsed = grammar::parse_quantity(text);
  if (!parsed) return parsed.error();
  if (parsed->sign() < 0)
    return grammar::Problem{"must not be negative", "write a positive quantity, for example \"10Gi\""};
  return std::nullopt;
}

struct Named {
  std::string_view name;
  Pattern::Explain check;
};
constexpr std::array<Named, 12> grammars{{
    {"quantity", check_amount},
    {"prometheus-duration", problem_of<grammar::parse_prometheus_duration>},
    {"positive-integer", problem_of<grammar::parse_positive_integer>},
    {"http-url", problem_of<grammar::parse_http_url>},
    {"host-port", problem_of<grammar::parse_host_port>},
    {"dns1035-label", grammar::check_dns1035_label},
    {"dns-label", grammar::check_dns_label},
    {"dns-subdomain", grammar::check_dns_subdomain},
    {"ingress-host", grammar::check_ingress_host},
    {"env-name", grammar::check_env_name},
    {"config-key", grammar::check_config_key},
    {"label-value", grammar::check_label_value},
}};

// "HTTP://host": good but for the capitals in front.
std::optional<grammar::Problem> capital_scheme(const Pattern& pattern, std::string_view text) {
  const std::string_view scheme = text.substr(0, std::min(text.find("://"), text.size()));
  if (scheme.size() == text.size() || std::ranges::none_of(scheme, grammar::is_upper)) return std::nullopt;
  const std::string lower = grammar::to_lower(scheme);
  if (!pattern.matches(lower + std::string(text.substr(scheme.size())))) return std::nullopt;
  return grammar::Problem{"has a scheme in capital letters", fmt::format("write {} in lower case", lower)};
}

}  // namespace

Pattern::~Pattern() = default;

bool Pattern::search(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

std::shared_ptr<const Pattern> Pattern::compile(std::string_view source, std::string& error, std::string_view grammar) {
  const auto* named = std::ranges::find(grammars, grammar, &Named::name);
  if (!grammar.empty() && named == grammars.end()) {
    error = fmt::format("there is no grammar \"{}\"", grammar);
    return nullptr;
  }
  const std::string key = fmt::format("{} {}", grammar, source);
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Pattern>, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end())
    if (auto alive = found->second.lock()) return alive;
  const std::shared_ptr<Pattern> fresh(new Pattern);
  fresh->source_ = source;
  fresh->automaton_ = Automaton::compile(source);
  if (!fresh->automaton_) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    fresh->expression_ = std::make_unique<const re2::RE2>(re2::StringPiece(source.data(), source.size()), options);
    if (!fresh->expression_->ok()) {
      error = fresh->expression_->error();
      return nullptr;
    }
  }
  if (!grammar.empty()) fresh->grammar_ = named->check;
  if (known.size() >= 1024) std::erase_if(known, [](const auto& each) { return each.second.expired(); });
  known.insert_or_assign(key, fresh);
  return fresh;
}

grammar::Problem explain_mismatch(const Pattern& pattern, std::string_view text) {
  if (auto template_left = grammar::describe_unrendered(text)) return std::move(*template_left);
  if (auto capitals = capital_scheme(pattern, text)) return std::move(*capitals);
  if (const Pattern::Explain check = pattern.grammar())
    if (auto problem = check(text)) return std::move(*problem);
  if (text.empty()) return {"must not be empty", fmt::format("write a text that matches {}", pattern.source())};
  return {"does not have the form that is needed here", fmt::format("write a text that matches {}", pattern.source())};
}

}  // namespace stackgate::validate::schema
