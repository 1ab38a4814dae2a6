#include "services/kit/base/base64.hpp"

#include <cstdint>

namespace stackgate::base64 {
namespace {

constexpr std::string_view base64_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::string encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const auto byte = [&](std::size_t k) {
      return k < left ? std::uint32_t{static_cast<unsigned char>(bytes[i + k])} : 0U;
    };
    const std::uint32_t group = byte(0) << 16U | byte(1) << 8U | byte(2);
    out += base64_alphabet[group >> 18U];
    out += base64_alphabet[group >> 12U & 63U];
    out += left > 1 ? base64_alphabet[group >> 6U & 63U] : '=';
    out += left > 2 ? base64_alphabet[group & 63U] : '=';
  }
  return out;
}

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int digit = base64_digit(c);
    if (digit < 0 || padding > 0) return std::nullopt;
    group = group << 6U | static_cast<std::uint32_t>(digit);
    if (++digits < 4) continue;
    out += static_cast<char>(group >> 16U & 255U);
    out += static_cast<char>(group >> 8U & 255U);
    out += static_cast<char>(group & 255U);
    group = 0;
    digits = 0;
  }
  if (digits == 1 || (digits == 0 && padding != 0) || (digits != 0 && digits + padding != 4)) return std::nullopt;
  if (digits >= 2) out += static_cast<char>(group >> (digits == 2 ? 4U : 10U) & 255U);
  if (digits == 3) out += static_cast<char>(group >> 2U & 255U);
  return out;
}

std::string encode_url(std::string_view bytes) {
  std::string out = encode(bytes);
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

std::optional<std::string> decode_url(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+' || c == '/' || c == '=' || c == '\r' || c == '\n') return std::nullopt;
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  }
  if (plain.size() % 4 == 1) return std::nullopt;
  plain.append((4 - plain.size() % 4) % 4, '=');
  std::optional<std::string> out = decode(plain);
  if (out && encode_url(*out) != text) return std::nullopt;
  return out;
}

}  // namespace stackgate::base64
