#include "services/kit/telemetry/sampling.hpp"

#include <algorithm>
#include <charconv>

#include "services/kit/http/text.hpp"
#include "services/kit/schema/pattern.hpp"

namespace stackgate::telemetry {

bool Sampler::samples(std::string_view trace_id, std::optional<bool> parent) const {
  if (parent_based && parent) return *parent;
  switch (root) {
    case Root::always_on:
      return true;
    case Root::always_off:
      return false;
    case Root::ratio:
      break;
  }
  if (ratio >= 1) return true;  // the largest ids would be rounded up to 2⁶³
  if (trace_id.size() != 32) return false;
  std::uint64_t dice = 0;
  std::from_chars(trace_id.data() + 16, trace_id.data() + 32, dice, 16);
  constexpr double sides = 9223372036854775808.0;  // 2⁶³
  return static_cast<double>(dice >> 1U) < ratio * sides;
}

std::optional<Sampler> parse_sampler(std::string_view word) {
  Sampler out;
  constexpr std::string_view prefix = "parentbased_";
  out.parent_based = word.starts_with(prefix);
  if (out.parent_based) word.remove_prefix(prefix.size());
  if (word == "always_on") {
    out.root = Sampler::Root::always_on;
  } else if (word == "always_off") {
    out.root = Sampler::Root::always_off;
  } else if (word == "traceidratio") {
    out.root = Sampler::Root::ratio;
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<double> parse_ratio(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Not a number compares false.
  if (fault != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1)) return std::nullopt;
  return value;
}

ExcludedUrls ExcludedUrls::compile(std::string_view list, std::string& error) {
  ExcludedUrls out;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const std::string_view source = http::trim(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (source.empty()) continue;
    std::string fault;
    if (auto pattern = validate::schema::Pattern::compile(source, fault)) {
      out.patterns_.push_back(std::move(pattern));
    } else if (error.empty()) {
      error = fault;
    }
  }
  return out;
}

bool ExcludedUrls::contains(std::string_view url) const {
  return std::ranges::any_of(patterns_, [&](const auto& pattern) { return pattern->matches(url); });
}

}  // namespace stackgate::telemetry
