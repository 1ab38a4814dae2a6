// Check digits of numbers that people are known by. Each takes the characters without separators.
#pragma once
#include <cstddef>
#include <string_view>

namespace stackgate::guardrail {

/// ISO/IEC 7812-1, annex B. Digits only.
bool is_luhn(std::string_view digits);
/// ISO 7064, mod 97-10, of a whole IBAN with upper-case letters.
bool is_iban(std::string_view iban);
/// How many characters IBANs of a country have ("DE" 22), or 0. Source: the SWIFT IBAN registry, release 99.
std::size_t iban_length(std::string_view country);
/// A Bitcoin address in base58check of version 0 or 5: decodes to 25 bytes that end with their own double SHA-256.
bool is_base58check_address(std::string_view text);
/// A Bitcoin address of BIP 173 and BIP 350, in one case, that begins with "bc1".
bool is_bech32_address(std::string_view text);
/// The UK's National Health Service: 10 digits, mod 11.
bool is_nhs_number(std::string_view digits);
/// The Drug Enforcement Administration: two letters (the second may be a 9) and 7 digits.
bool is_dea_number(std::string_view text);
/// Whether the Social Security Administration could have issued these 9 digits.
bool is_ssn(std::string_view digits);

}  // namespace stackgate::guardrail
