#include "services/kit/base/semantic_version.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/number.hpp"

namespace stackgate {
namespace semantic_version_detail {

bool is_numeric(std::string_view text) { return !text.empty() && std::ranges::all_of(text, ascii::is_digit); }

bool is_identifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return ascii::is_alphanumeric(c) || c == '-'; });
}

/// Without leading zeros, within 64 bits.
std::optional<std::uint64_t> number(std::string_view text) {
  if (!is_numeric(text) || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  return to_number<std::uint64_t>(text);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  while (true) {
    const auto dot = text.find('.');
    out.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    text.remove_prefix(dot + 1);
  }
}

std::strong_ordering compare_identifiers(std::string_view a, std::string_view b) {
  const bool na = is_numeric(a), nb = is_numeric(b);
  if (na != nb) return na ? std::strong_ordering::less : std::strong_ordering::greater;
  // Numbers without leading zeros: the longer one is larger.
  if (na && a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace semantic_version_detail

std::optional<SemanticVersion> parse_semantic_version(std::string_view text) {
  namespace d = semantic_version_detail;
  if (text.size() > longest_semantic_version) return std::nullopt;
  SemanticVersion out;
  if (const auto plus = text.find('+'); plus != std::string_view::npos) {
    out.build = text.substr(plus + 1);
    if (!std::ranges::all_of(d::split(out.build), d::is_identifier)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    for (const std::string_view part : d::split(text.substr(dash + 1))) {
      if (!d::is_identifier(part) || (d::is_numeric(part) && part.size() > 1 && part[0] == '0')) return std::nullopt;
      out.pre.emplace_back(part);
    }
    text = text.substr(0, dash);
  }
  const auto parts = d::split(text);
  if (parts.size() != 3) return std::nullopt;
  const auto major = d::number(parts[0]), minor = d::number(parts[1]), patch = d::number(parts[2]);
  if (!major || !minor || !patch) return std::nullopt;
  out.major = *major;
  out.minor = *minor;
  out.patch = *patch;
  return out;
}

std::strong_ordering compare(const SemanticVersion& a, const SemanticVersion& b) {
  if (const auto order = a.major <=> b.major; order != 0) return order;
  if (const auto order = a.minor <=> b.minor; order != 0) return order;
  if (const auto order = a.patch <=> b.patch; order != 0) return order;
  if (a.pre.empty() != b.pre.empty()) return a.pre.empty() ? std::strong_ordering::greater : std::strong_ordering::less;
  for (std::size_t i = 0; i < std::min(a.pre.size(), b.pre.size()); ++i)
    if (const auto order = semantic_version_detail::compare_identifiers(a.pre[i], b.pre[i]); order != 0) return order;
  return a.pre.size() <=> b.pre.size();
}

}  // namespace stackgate
