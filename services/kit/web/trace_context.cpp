#include "services/kit/web/trace_context.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "services/kit/base/ascii.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace trace_detail {

bool is_key_part(std::string_view text, std::size_t longest, bool digit_first) {
  if (text.empty() || text.size() > longest) return false;
  if (!ascii::is_lower(text[0]) && !(digit_first && ascii::is_digit(text[0]))) return false;
  return std::ranges::all_of(
      text, [](char c) { return ascii::is_lower_alphanumeric(c) || std::string_view("_-*/").contains(c); });
}

// "vendor", or "tenant@system".
bool is_key(std::string_view key) {
  const auto at = key.find('@');
  if (at == std::string_view::npos) return is_key_part(key, 256, false);
  return is_key_part(key.substr(0, at), 241, true) && is_key_part(key.substr(at + 1), 14, false);
}

bool is_value(std::string_view value) {
  return !value.empty() && value.size() <= 256 && value.back() != ' ' &&
         std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

std::uint64_t random_word() {
  thread_local std::mt19937_64 engine = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return engine();
}

}  // namespace trace_detail

bool is_tracestate(std::string_view text) {
  if (text.empty() || text.size() > 512) return false;
  std::vector<std::string_view> keys;
  std::size_t members = 0;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const std::string_view member = http::trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (member.empty()) continue;
    if (++members > 32) return false;
    const auto equals = member.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = member.substr(0, equals);
    if (!trace_detail::is_key(key) || !trace_detail::is_value(member.substr(equals + 1))) return false;
    if (std::ranges::find(keys, key) != keys.end()) return false;
    keys.push_back(key);
  }
  return members > 0;
}

TraceContext continue_trace(std::string_view traceparent, std::string_view tracestate, bool sample_new) {
  TraceContext context;
  context.span_id = random_hex(16);
  if (auto parent = traceparent.empty() ? std::nullopt : parse_traceparent(traceparent)) {
    context.trace_id = std::move(parent->trace_id);
    context.parent_id = std::move(parent->parent_id);
    context.sampled = parent->sampled;
    if (is_tracestate(tracestate)) context.state = tracestate;
  } else {
    context.trace_id = random_hex(32);
    context.sampled = sample_new;
  }
  return context;
}

std::string to_traceparent(const TraceContext& context) {
  return "00-" + context.trace_id + "-" + context.span_id + (context.sampled ? "-01" : "-00");
}

std::string random_hex(std::size_t digits) {
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string out(digits, '0');
  do {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (i % 16 == 0) word = trace_detail::random_word();
      out[i] = hex[word & 15U];
      word >>= 4U;
    }
  } while (digits > 0 && out.find_first_not_of('0') == std::string::npos);
  return out;
}

}  // namespace stackgate::web
