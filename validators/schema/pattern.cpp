#include "validators/schema/pattern.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <re2/re2.h>

#include "validators/grammar/characters.hpp"
#include "validators/grammar/duration.hpp"
#include "validators/grammar/host.hpp"
#include "validators/grammar/image.hpp"
#include "validators/grammar/integer_text.hpp"
#include "validators/grammar/names.hpp"
#include "validators/grammar/path_names.hpp"
#include "validators/grammar/quantity.hpp"
#include "validators/grammar/unrendered.hpp"
#include "validators/grammar/url.hpp"

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

// Texts that show which grammar a pattern stands for: it takes the good ones and refuses the bad ones.
struct Signature {
  Pattern::Explain check;
  std::array<std::string_view, 4> good;
  std::array<std::string_view, 6> bad;
};
constexpr std::array<Signature, 12> signatures{{
    {check_amount, {"10Gi", "500m", "1.5", "2e3"}, {"10GB", "x", "1 Gi", "1Gb", "a-b", "1g"}},
    {problem_of<grammar::parse_prometheus_duration>,
     {"30s", "1h30m", "500ms", "1w"},
     {"30", "1m1h", "x", "1.5m", "1sec", "30 s"}},
    {problem_of<grammar::parse_positive_integer>, {"1", "8", "10", "999"}, {"0", "x", "1.5", "-1", "+1", " 1"}},
    {problem_of<grammar::parse_http_url>,
     {"http://a", "https://a.b:1/c", "http://10.0.0.1/x", "https://a?b"},
     {"a", "ftp://a", "http:/a", "//a", "a:1", "http a"}},
    {problem_of<grammar::parse_host_port>,
     {"a:1", "a.b:9000", "[::1]:80", "10.0.0.1:1"},
     {"a", "http://a:1", "a:b", ":1", "a:1/x", "a b:1"}},
    {grammar::check_dns1035_label, {"a", "a-b", "a1", "abc"}, {"1a", "a.b", "A", "a_b", "-a", "a-"}},
    {grammar::check_dns_label, {"a", "a-b", "1a", "0"}, {"a.b", "A", "a_b", "-a", "a-", "a b"}},
    {grammar::check_dns_subdomain, {"a", "a.b", "1.a-b", "a.b.c"}, {"a..b", "A", "a_b", "-a", "*.a", "a."}},
    {grammar::check_ingress_host, {"a", "a.b", "*.a", "*.a.b"}, {"a..b", "A", "a_b", "-a", "*", "a."}},
    {grammar::check_env_name, {"A", "a.b", "_a", "-a1"}, {"1a", "a b", "a=b", "a/b", "", "a:b"}},
    {grammar::check_config_key, {"A", "1.b", ".a", "-a_1"}, {"a b", "a=b", "a/b", "", "a:b", "\xc3\xa9"}},
    {grammar::check_label_value, {"A", "a.b_c-d", "1", "Ab"}, {"-a", "a-", "a b", "a/b", ".a", "a:b"}},
}};

// "HTTP://host": good but for the capitals in front.
std::optional<grammar::Problem> capital_scheme(const Pattern& pattern, std::string_view text) {
  const std::string_view scheme = text.substr(0, std::min(text.find("://"), text.size()));
  if (scheme.size() == text.size() || std::ranges::none_of(scheme, grammar::is_upper)) return std::nullopt;
  const std::string lower = grammar::to_lower(scheme);
  if (!pattern.matches(lower + std::string(text.substr(scheme.size())))) return std::nullopt;
  return grammar::Problem{"has a scheme in capital letters", fmt::format("write {} in lower case", lower)};
}

Pattern::Explain find_grammar(const Pattern& pattern) {
  for (const Signature& each : signatures) {
    bool same = true;
    for (const std::string_view text : each.good) same = same && pattern.matches(text);
    for (const std::string_view text : each.bad) same = same && !pattern.matches(text);
    if (same) return each.check;
  }
  return nullptr;
}

}  // namespace

Pattern::~Pattern() = default;

bool Pattern::search(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

std::shared_ptr<const Pattern> Pattern::compile(std::string_view source, std::string& error) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Pattern>, std::less<>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(source); found != known.end())
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
  fresh->grammar_ = find_grammar(*fresh);
  if (known.size() >= 1024) std::erase_if(known, [](const auto& each) { return each.second.expired(); });
  known.insert_or_assign(std::string(source), fresh);
  return fresh;
}

grammar::Problem explain_mismatch(const Pattern& pattern, std::string_view text) {
  if (auto template_left = grammar::say_unrendered(text)) return std::move(*template_left);
  if (auto capitals = capital_scheme(pattern, text)) return std::move(*capitals);
  if (const Pattern::Explain check = pattern.grammar())
    if (auto problem = check(text)) return std::move(*problem);
  if (text.empty()) return {"must not be empty", fmt::format("write a text that matches {}", pattern.source())};
  return {"does not have the form that is needed here", fmt::format("write a text that matches {}", pattern.source())};
}

}  // namespace stackgate::validate::schema
