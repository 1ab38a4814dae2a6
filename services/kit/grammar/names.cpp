#include "services/kit/grammar/names.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <string>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/quantity.hpp"

namespace stackgate::validate::grammar {
namespace {

// A name made of one run of characters.
struct NameRule {
  std::size_t longest;
  bool (*first)(char);
  bool (*middle)(char);
  bool (*last)(char);
  std::string_view cure;  // how a good name is built
  char joint = '-';       // what stands in for a space
};

bool label_middle(char c) { return is_lower_alphanumeric(c) || c == '-'; }
bool qualified_middle(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }
bool env_first(char c) { return is_letter(c) || c == '_' || c == '-' || c == '.'; }

constexpr NameRule dns_label{63, is_lower_alphanumeric, label_middle, is_lower_alphanumeric,
                             "use lower-case letters, digits and '-', beginning and ending with a letter or digit"};
constexpr NameRule dns1035_label{
    63, is_lower, label_middle, is_lower_alphanumeric,
    "use lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit"};
constexpr NameRule qualified_name{63, is_alphanumeric, qualified_middle, is_alphanumeric,
                                  "use letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"};
constexpr NameRule env_name{std::string_view::npos,
                            env_first,
                            qualified_middle,
                            qualified_middle,
                            "use letters, digits, '_', '-' and '.', not beginning with a digit",
                            '_'};
constexpr NameRule config_key{253, qualified_middle, qualified_middle, qualified_middle,
                              "use letters, digits, '-', '_' and '.'"};
constexpr std::string_view subdomain_cure =
    "use lower-case letters, digits, '-' and '.', each part beginning and ending with a letter or digit";

// The first byte that breaks the rule, or npos. The length is looked at elsewhere.
std::size_t first_fault(std::string_view text, const NameRule& rule) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto allowed = i == 0 ? rule.first : i + 1 == text.size() ? rule.last : rule.middle;
    if (!allowed(text[i]) || (i == 0 && text.size() == 1 && !rule.last(text[i]))) return i;
  }
  return std::string_view::npos;
}

// Lower-cases, turns '_', space and '.' into '-' where only that is missing, and trims the ends; empty if that is not
// enough.
std::string corrected(std::string_view text, const NameRule& rule) {
  std::string out;
  for (const char c : text.substr(0, 200)) {
    if (rule.middle(c))
      out += c;
    else if (rule.middle(to_lower(c)))
      out += to_lower(c);
    else if (c == '_' || c == ' ' || c == '.' || c == '/' || c == '-')
      out += rule.joint;
    else
      return {};
  }
  while (!out.empty() && !rule.last(out.back())) out.pop_back();
  const auto begin = std::ranges::find_if(out, rule.first);
  out.erase(out.begin(), begin);
  if (out.empty() || out.size() > rule.longest || out == text || first_fault(out, rule) != std::string::npos) return {};
  return out;
}

std::string describe_write(const std::string& suggestion, std::string_view otherwise) {
  const std::string quoted = quote_short(suggestion);
  return quoted.empty() ? std::string(otherwise) : concat({"write ", quoted});
}

std::string describe_fault(std::string_view whole, std::size_t at, bool first, bool last, bool fits_middle) {
  if (fits_middle && first) return concat({"must not begin with ", name_character(whole, at)});
  if (fits_middle && last) return concat({"must not end with ", name_character(whole, at)});
  return concat({"must not contain ", place_character(whole, at)});
}

Problem too_long(std::size_t size, std::size_t longest) {
  return {fmt::format("must be at most {} characters, but has {}", longest, size), "write a shorter name"};
}

std::optional<Problem> check_run(std::string_view text, const NameRule& rule) {
  if (text.empty()) return Problem{"must not be empty", std::string(rule.cure)};
  if (const std::size_t at = first_fault(text, rule); at != std::string_view::npos)
    return Problem{describe_fault(text, at, at == 0, at + 1 == text.size(), rule.middle(text[at])),
                   describe_write(corrected(text, rule), rule.cure)};
  if (text.size() > rule.longest) return too_long(text.size(), rule.longest);
  return std::nullopt;
}

// Parts of a subdomain are labels of any length.
constexpr NameRule subdomain_part{253, is_lower_alphanumeric, label_middle, is_lower_alphanumeric, subdomain_cure};

std::string corrected_subdomain(std::string_view text) {
  if (text.size() > 253) return {};
  std::string out;
  for (const auto each : std::views::split(text, '.')) {
    const std::string_view part(each);
    const bool good = !part.empty() && first_fault(part, subdomain_part) == std::string_view::npos;
    const std::string fixed = good ? std::string(part) : corrected(part, subdomain_part);
    if (!fixed.empty())
      out += (out.empty() ? "" : ".") + fixed;
    else if (!part.empty())
      return {};
  }
  return out;
}

std::optional<Problem> check_subdomain_in(std::string_view whole, std::string_view text) {
  const std::size_t base = static_cast<std::size_t>(text.data() - whole.data());
  if (text.empty()) return Problem{"must not be empty", std::string(subdomain_cure)};
  const auto cure = [&] {
    const std::string fixed = corrected_subdomain(text);
    return fixed.empty() ? std::string(subdomain_cure)
                         : describe_write(std::string(whole.substr(0, base)) + fixed +
                                              std::string(whole.substr(base + text.size())),
                                          subdomain_cure);
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (part.empty())
      return Problem{begin == 0           ? "must not begin with '.'"
                     : end == text.size() ? "must not end with '.'"
                                          : "must not contain two dots in a row",
                     cure()};
    if (const std::size_t at = first_fault(part, subdomain_part); at != std::string_view::npos) {
      const bool first = at == 0, last = at + 1 == part.size();
      if (label_middle(part[at])) {
        const std::string_view where = part.size() == text.size() ? "" : " a part between dots";
        return Problem{fmt::format("must not {}{} with '{}'", first ? "begin" : "end", where, part[at]), cure()};
      }
      return Problem{describe_fault(whole, base + begin + at, first, last, false), cure()};
    }
    begin = end + 1;
  }
  if (text.size() > 253) return too_long(text.size(), 253);
  return std::nullopt;
}

// `.`, `..` and everything that begins with `..` would leave the directory that the keys are written to.
std::optional<Problem> check_no_directory(std::string_view text) {
  if (text == "." || text.starts_with(".."))
    return Problem{text == "." ? "must not be \".\"" : "must not begin with \"..\"",
                   "write a name that does not begin with a dot"};
  return std::nullopt;
}

std::optional<Problem> check_qualified(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return check_run(text, qualified_name);
  if (text.find('/', slash + 1) != std::string_view::npos)
    return Problem{"must not contain more than one '/'", "write \"name\" or \"domain.prefix/name\""};
  if (slash == 0)
    return Problem{"has nothing in front of '/'",
                   "write the name alone or a domain in front of it, as in \"example.com/name\""};
  if (slash + 1 == text.size())
    return Problem{"has nothing behind '/'", "write a name behind '/', as in \"example.com/name\""};
  if (auto problem = check_subdomain_in(text, text.substr(0, slash))) {
    problem->problem += " in the part before '/'";
    return problem;
  }
  if (auto problem = check_run(text.substr(slash + 1), qualified_name)) {
    problem->problem += " in the part behind '/'";
    if (const std::string fixed = corrected(text.substr(slash + 1), qualified_name); !fixed.empty())
      problem->fix = describe_write(std::string(text.substr(0, slash + 1)) + fixed, qualified_name.cure);
    return problem;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Problem> check_dns_label(std::string_view text) { return check_run(text, dns_label); }
std::optional<Problem> check_dns1035_label(std::string_view text) { return check_run(text, dns1035_label); }
std::optional<Problem> check_dns_subdomain(std::string_view text) { return check_subdomain_in(text, text); }

std::optional<Problem> check_ingress_host(std::string_view text) {
  if (text.starts_with("*.")) return check_subdomain_in(text, text.substr(2));
  if (text.starts_with("*"))
    return Problem{"must have '.' behind '*'", "write a host name, or one behind \"*.\" as in \"*.example.com\""};
  return check_dns_subdomain(text);
}

std::optional<Problem> check_label_key(std::string_view text) { return check_qualified(text); }
std::optional<Problem> check_label_value(std::string_view text) {
  return text.empty() ? std::nullopt : check_run(text, qualified_name);
}
std::optional<Problem> check_taint_key(std::string_view text) { return check_qualified(text); }

std::optional<Problem> check_annotation_key(std::string_view text) {
  const bool capitals = std::ranges::any_of(text.substr(0, std::min(text.find('/'), text.size())), is_upper);
  return capitals ? check_qualified(to_lower(text)) : check_qualified(text);
}

std::optional<Problem> check_env_name(std::string_view text) {
  if (auto problem = check_run(text, env_name)) {
    // What begins with a digit keeps it: "1A" without it is another name.
    if (!text.empty() && is_digit(text[0]) && first_fault(text, config_key) == std::string_view::npos)
      problem->fix = describe_write("_" + std::string(text), env_name.cure);
    if (text.find('=') != std::string_view::npos)
      problem->fix = "write the name alone; what stands behind '=' is the value";
    return problem;
  }
  return check_no_directory(text);
}

std::optional<Problem> check_config_key(std::string_view text) {
  if (auto problem = check_run(text, config_key)) return problem;
  return check_no_directory(text);
}

std::optional<Problem> check_resource_name(std::string_view text) {
  static constexpr std::array<std::string_view, 3> standard{"cpu", "memory", "ephemeral-storage"};
  constexpr std::string_view huge_pages = "hugepages-";
  if (std::ranges::find(standard, text) != standard.end()) return std::nullopt;
  if (auto problem = check_qualified(text)) return problem;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    if (text.starts_with(huge_pages)) {
      const auto size = parse_quantity(text.substr(huge_pages.size()));
      if (size && size->sign() > 0 && size->is_integer()) return std::nullopt;
      return Problem{"does not end with a page size", "write for example \"hugepages-2Mi\""};
    }
    const std::string lower = to_lower(text);
    for (const std::string_view name : standard)
      if (lower == name) return Problem{"is no resource of a container", concat({"write \"", name, "\""})};
    if (lower == "gpu" || lower == "gpus")
      return Problem{"is no resource of a container", "write the device's full name, for example \"nvidia.com/gpu\""};
    return Problem{
        "is no resource of a container",
        "write cpu, memory, ephemeral-storage, hugepages-<size>, or a device's full name such as \"nvidia.com/gpu\""};
  }
  const std::string_view prefix = text.substr(0, slash);
  if (prefix.find("kubernetes.io") != std::string_view::npos && text.find("kubernetes.io/") != std::string_view::npos)
    return std::nullopt;
  if (text.starts_with("requests."))
    return Problem{"must not begin with \"requests.\"",
                   fmt::format("write {}", quote_short(text.substr(9)).empty() ? "the device's full name"
                                                                               : quote_short(text.substr(9)))};
  // Kubernetes writes "requests." in front of it for quotas, and that must be a good name too.
  if (prefix.size() + 9 > 253)
    return Problem{"has more than 244 characters in the part before '/'", "write a shorter name"};
  return std::nullopt;
}

}  // namespace stackgate::validate::grammar
