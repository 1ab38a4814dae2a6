#include "services/guardrail/detect/checksums.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "services/kit/base/ascii.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::guardrail {
namespace {

unsigned value(char digit) { return static_cast<unsigned>(digit - '0'); }

struct Country {
  std::string_view code;
  std::uint8_t length;
};
constexpr Country countries[]{
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16}, {"BG", 22}, {"BH", 22},
    {"BI", 27}, {"BR", 29}, {"BY", 28}, {"CH", 21}, {"CR", 22}, {"CY", 28}, {"CZ", 24}, {"DE", 22}, {"DJ", 27},
    {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29}, {"ES", 24}, {"FI", 18}, {"FK", 18}, {"FO", 18}, {"FR", 27},
    {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18}, {"GR", 27}, {"GT", 28}, {"HN", 28}, {"HR", 21}, {"HU", 28},
    {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IS", 26}, {"IT", 27}, {"JO", 30}, {"KW", 30}, {"KZ", 20}, {"LB", 28},
    {"LC", 32}, {"LI", 21}, {"LT", 20}, {"LU", 20}, {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22},
    {"MK", 19}, {"MN", 20}, {"MR", 27}, {"MT", 31}, {"MU", 30}, {"NI", 28}, {"NL", 18}, {"NO", 15}, {"OM", 23},
    {"PK", 24}, {"PL", 28}, {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24}, {"RS", 22}, {"RU", 33}, {"SA", 24},
    {"SC", 31}, {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"SO", 23}, {"ST", 25}, {"SV", 28},
    {"TL", 23}, {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20}};
static_assert(std::ranges::is_sorted(countries, {}, &Country::code));

constexpr std::string_view base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::string_view bech32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// BIP 173's polynomial over one more value.
std::uint32_t bech32_step(std::uint32_t sum, std::uint32_t next) {
  constexpr std::array<std::uint32_t, 5> generator{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
  const std::uint32_t top = sum >> 25U;
  sum = (sum & 0x1ffffffU) << 5U ^ next;
  for (std::uint32_t i = 0; i < 5; ++i)
    if ((top >> i & 1U) != 0) sum ^= generator[i];
  return sum;
}

std::string_view view(const crypto::Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

bool is_luhn(std::string_view digits) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const unsigned digit = value(digits[digits.size() - 1 - i]);
    const unsigned doubled = digit * 2;
    sum += i % 2 == 0 ? digit : doubled - (doubled > 9 ? 9 : 0);
  }
  return sum % 10 == 0;
}

std::size_t iban_length(std::string_view country) {
  const auto* const found = std::ranges::lower_bound(countries, country, {}, &Country::code);
  return found != std::end(countries) && found->code == country ? found->length : 0;
}

bool is_iban(std::string_view iban) {
  if (iban.size() < 5) return false;
  unsigned rest = 0;
  for (std::size_t i = 0; i < iban.size(); ++i) {
    const char c = iban[(i + 4) % iban.size()];
    if (ascii::is_digit(c)) {
      rest = (rest * 10 + value(c)) % 97;
    } else {
      rest = (rest * 100 + static_cast<unsigned>(c - 'A') + 10) % 97;
    }
  }
  return rest == 1;
}

bool is_base58check_address(std::string_view text) {
  if (text.size() < 26 || text.size() > 35) return false;
  std::array<unsigned char, 25> bytes{};
  for (const char c : text) {
    const std::size_t digit = base58.find(c);
    if (digit == std::string_view::npos) return false;
    std::uint32_t carry = static_cast<std::uint32_t>(digit);
    for (std::size_t i = bytes.size(); i-- > 0;) {
      carry += 58U * bytes[i];
      bytes[i] = static_cast<unsigned char>(carry & 0xFFU);
      carry >>= 8U;
    }
    if (carry != 0) return false;
  }
  const std::size_t ones = std::min(text.find_first_not_of('1'), text.size());
  const auto zeros =
      static_cast<std::size_t>(std::ranges::find_if(bytes, [](auto b) { return b != 0; }) - bytes.begin());
  if (ones != zeros || (bytes[0] != 0 && bytes[0] != 5)) return false;
  const crypto::Sha256 digest =
      crypto::sha256(view(crypto::sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size() - 4})));
  return std::equal(bytes.end() - 4, bytes.end(), digest.begin());
}

bool is_bech32_address(std::string_view text) {
  if (text.size() < 14 || text.size() > 74) return false;
  const bool upper = std::ranges::any_of(text, ascii::is_upper);
  if (upper && std::ranges::any_of(text, ascii::is_lower)) return false;
  std::uint32_t sum = 1;
  for (const std::uint32_t next : {3U, 3U, 0U, 2U, 3U}) sum = bech32_step(sum, next);  // "bc", expanded
  if (ascii::to_lower(text.substr(0, 3)) != "bc1") return false;
  std::size_t version = 0;
  for (std::size_t i = 3; i < text.size(); ++i) {
    const std::size_t digit = bech32.find(ascii::to_lower(text[i]));
    if (digit == std::string_view::npos) return false;
    if (i == 3) version = digit;
    sum = bech32_step(sum, static_cast<std::uint32_t>(digit));
  }
  return version <= 16 && sum == (version == 0 ? 1U : 0x2bc830a3U);
}

bool is_nhs_number(std::string_view digits) {
  if (digits.size() != 10 || digits.find_first_not_of(digits[0]) == std::string_view::npos) return false;
  unsigned sum = 0;
  for (unsigned i = 0; i < 10; ++i) sum += value(digits[i]) * (i == 9 ? 1 : 10 - i);
  return sum % 11 == 0;
}

bool is_dea_number(std::string_view text) {
  if (text.size() != 9 || !std::ranges::all_of(text.substr(2), ascii::is_digit)) return false;
  constexpr std::string_view first = "ABCDEFGHJKLMPRSTUX";
  if (!first.contains(static_cast<char>(text[0] & ~0x20)) || !(ascii::is_letter(text[1]) || text[1] == '9'))
    return false;
  const auto digit = [&](std::size_t i) { return value(text[i + 2]); };
  return (digit(0) + digit(2) + digit(4) + 2 * (digit(1) + digit(3) + digit(5))) % 10 == digit(6);
}

bool is_ssn(std::string_view digits) {
  if (digits.size() != 9) return false;
  const std::string_view area = digits.substr(0, 3);
  return area != "000" && area != "666" && area[0] != '9' && digits.substr(3, 2) != "00" &&
         digits.substr(5) != "0000" && digits.find_first_not_of(digits[0]) != std::string_view::npos &&
         digits != "123456789" && digits != "078051120" && digits != "219099999";
}

}  // namespace stackgate::guardrail
