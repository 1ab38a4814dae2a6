#include "services/guardrail/detect/checksums.hpp"

#include <gtest/gtest.h>

namespace stackgate::guardrail {
namespace {

TEST(Checksums, of_cards) {
  EXPECT_TRUE(is_luhn("4111111111111111"));
  EXPECT_TRUE(is_luhn("378282246310005"));
  EXPECT_FALSE(is_luhn("4111111111111112"));
  EXPECT_FALSE(is_luhn("4111111111111181"));
}

TEST(Checksums, of_ibans) {
  // Examples of the SWIFT registry.
  for (const char* iban : {"GB29NWBK60161331926819", "DE89370400440532013000", "FR1420041010050500013M02606",
                           "NO9386011117947", "MT84MALT011000012345MTLCAST001S", "CH9300762011623852957"})
    EXPECT_TRUE(is_iban(iban)) << iban;
  EXPECT_FALSE(is_iban("GB29NWBK60161331926818"));
  EXPECT_FALSE(is_iban("DE98370400440532013000"));
  EXPECT_FALSE(is_iban("GB"));
  EXPECT_EQ(iban_length("DE"), 22U);
  EXPECT_EQ(iban_length("XK"), 20U);
  EXPECT_EQ(iban_length("ZZ"), 0U);
  EXPECT_EQ(iban_length(""), 0U);
}

TEST(Checksums, of_bitcoin_addresses) {
  EXPECT_TRUE(is_base58check_address("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"));  // of the first block
  EXPECT_TRUE(is_base58check_address("3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"));
  EXPECT_FALSE(is_base58check_address("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"));
  EXPECT_FALSE(is_base58check_address("1A1zP1eP5QGefi2DMPTfTL5SLmv7Divf0a"));
  // BIP 173 and BIP 350.
  EXPECT_TRUE(is_bech32_address("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"));
  EXPECT_TRUE(is_bech32_address("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"));
  EXPECT_TRUE(is_bech32_address("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0"));
  EXPECT_FALSE(is_bech32_address("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"));
  EXPECT_FALSE(is_bech32_address("Bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"));
  EXPECT_FALSE(is_bech32_address("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd")) << "bech32, not m";
}

TEST(Checksums, of_health_services) {
  EXPECT_TRUE(is_nhs_number("9434765919"));
  EXPECT_FALSE(is_nhs_number("9434765918"));
  EXPECT_FALSE(is_nhs_number("0000000000"));
  EXPECT_TRUE(is_dea_number("AB1234563"));
  EXPECT_TRUE(is_dea_number("B91234563"));
  EXPECT_FALSE(is_dea_number("AB1234564"));
  EXPECT_FALSE(is_dea_number("NB1234563"));
}

TEST(Checksums, of_social_security) {
  EXPECT_TRUE(is_ssn("536221234"));
  for (const char* never :
       {"000221234", "666221234", "900221234", "536001234", "536220000", "111111111", "123456789", "078051120"})
    EXPECT_FALSE(is_ssn(never)) << never;
}

}  // namespace
}  // namespace stackgate::guardrail
