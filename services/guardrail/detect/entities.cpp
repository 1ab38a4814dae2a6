#include "services/guardrail/detect/entities.hpp"

#include <algorithm>

namespace stackgate::guardrail {
namespace {

using WordList = std::span<const std::string_view>;

constexpr std::array<std::string_view, entity_count> entity_names{"CREDIT_CARD",    "CRYPTO",
                                                                  "DATE_TIME",      "EMAIL_ADDRESS",
                                                                  "IBAN_CODE",      "IP_ADDRESS",
                                                                  "LOCATION",       "MEDICAL_LICENSE",
                                                                  "PERSON",         "PHONE_NUMBER",
                                                                  "UK_NHS",         "URL",
                                                                  "US_BANK_NUMBER", "US_DRIVER_LICENSE",
                                                                  "US_ITIN",        "US_PASSPORT",
                                                                  "US_SSN"};

constexpr std::string_view card_words[] = {"credit", "card",     "visa",    "mastercard",
                                           "amex",   "discover", "maestro", "debit"};
constexpr std::string_view crypto_words[] = {"wallet", "btc", "bitcoin", "crypto", "ethereum", "eth"};
constexpr std::string_view date_time_words[] = {"date", "time", "born", "birthday", "birth"};
constexpr std::string_view mail_words[] = {"email", "mail", "e-mail"};
constexpr std::string_view iban_words[] = {"iban", "bank", "account", "transaction"};
constexpr std::string_view ip_words[] = {"ip", "ipv4", "ipv6", "address", "host"};
constexpr std::string_view location_words[] = {"live", "lives", "city", "country", "address", "located", "street"};
constexpr std::string_view medical_words[] = {"medical", "certificate", "dea"};
constexpr std::string_view person_words[] = {"name", "named", "called", "patient", "customer", "client", "regards"};
constexpr std::string_view phone_words[] = {"phone",     "number", "telephone", "tel", "cell",
                                            "cellphone", "mobile", "call",      "fax", "ring"};
constexpr std::string_view nhs_words[] = {"nhs", "health", "national"};
constexpr std::string_view url_words[] = {"url", "website", "link", "site"};
constexpr std::string_view bank_words[] = {"bank", "check", "account", "acct", "save", "debit", "routing"};
constexpr std::string_view license_words[] = {"driver", "license", "licence", "permit", "lic", "dl", "dls", "driving"};
constexpr std::string_view itin_words[] = {"individual", "taxpayer", "itin", "tax", "payer", "taxid", "tin"};
constexpr std::string_view passport_words[] = {"passport", "travel", "document"};
constexpr std::string_view ssn_words[] = {"social", "security", "ssn", "ssns", "ssid"};

constexpr std::array<WordList, entity_count> all_context_words{
    card_words,     crypto_words,  date_time_words, mail_words,     iban_words, ip_words,
    location_words, medical_words, person_words,    phone_words,    nhs_words,  url_words,
    bank_words,     license_words, itin_words,      passport_words, ssn_words};

}  // namespace

std::span<const std::string_view> served_entities() { return entity_names; }

std::string_view to_string(Entity entity) { return entity_names[static_cast<std::size_t>(entity)]; }

std::optional<Entity> entity_from(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(entity_names, name);
  if (found == entity_names.end() || *found != name) return std::nullopt;
  return static_cast<Entity>(found - entity_names.begin());
}

std::span<const std::string_view> context_words(Entity entity) {
  return all_context_words[static_cast<std::size_t>(entity)];
}

}  // namespace stackgate::guardrail
