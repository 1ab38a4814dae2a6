// The kinds of sensitive data that are recognised, by the names that Presidio gives them
// (https://microsoft.github.io/presidio/supported_entities/).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stackgate::guardrail {

enum class Entity : std::uint8_t {
  credit_card,
  crypto,
  date_time,
  email_address,
  iban_code,
  ip_address,
  location,
  medical_license,
  person,
  phone_number,
  uk_nhs,
  url,
  us_bank_number,
  us_driver_license,
  us_itin,
  us_passport,
  us_ssn,
};
inline constexpr std::size_t entity_count = 17;

/// "CREDIT_CARD", …: in the order of Entity, which is the alphabet's.
std::span<const std::string_view> served_entities();
std::string_view to_string(Entity entity);
std::optional<Entity> entity_from(std::string_view name);

/// Words before a number that make it more likely to be what it looks like, in lower case.
std::span<const std::string_view> context_words(Entity entity);

}  // namespace stackgate::guardrail
