#include "certs/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "certs/openssl.hpp"
#include "tests/certs/pairs.hpp"

namespace stackgate::certs {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

// A self-signed certificate of any key type, which the issuer under test does not make.
PemPair self_signed(EVP_PKEY* raw) {
  const Key key(raw);
  const Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  const bool no_digest = EVP_PKEY_is_a(key.get(), "ED25519") == 1;
  X509_sign(certificate.get(), key.get(), no_digest ? nullptr : EVP_sha256());
  const Bio text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), certificate.get());
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {text_of(text), text_of(key_text)};
}

std::string error_of(const PemPair& pair, Time at = now()) {
  const auto made = make_identity(pair, at);
  return made ? "accepted" : made.error().message;
}

TEST(Identity, describes_what_a_certificate_is_for) {
  const auto ca = make_ca("my CA");
  const Time before = now();
  const auto leaf = must(describe(make_leaf(ca).certificates));
  EXPECT_EQ(leaf.subject, "CN=gate");
  EXPECT_EQ(leaf.issuer, "CN=my CA");
  EXPECT_EQ(leaf.key_type, "EC P-256");
  EXPECT_THAT(leaf.dns_names, ElementsAre("gate.test.svc", "localhost"));
  EXPECT_THAT(leaf.ip_addresses, ElementsAre("127.0.0.1", "::1"));
  EXPECT_LE(leaf.not_before, now() - 1h);
  EXPECT_GE(leaf.not_before, before - 1h);
  EXPECT_EQ(leaf.not_after - leaf.not_before, 13h);
  EXPECT_FALSE(leaf.is_ca);
  EXPECT_EQ(leaf.serial.size(), 32U);
  EXPECT_TRUE(must(describe(ca.certificates)).is_ca);
}

TEST(Identity, accepts_a_good_pair_and_knows_the_earliest_end_of_its_chain) {
  const Time at = now();
  const auto ca = make_ca("short CA", at - 2h, at + 1h);
  auto pair = make_leaf(ca, at - 1h, at + 12h);
  EXPECT_EQ(must(make_identity(pair, at)).not_after, at + 12h);
  pair.certificates += ca.certificates;
  const auto identity = must(make_identity(pair, at));
  EXPECT_EQ(identity.not_after, at + 1h);
  EXPECT_NE(identity.context, nullptr);
}

TEST(Identity, accepts_the_key_types_that_clients_know) {
  EXPECT_EQ(error_of(self_signed(EVP_RSA_gen(2048))), "accepted");
  EXPECT_EQ(error_of(self_signed(EVP_EC_gen("P-384"))), "accepted");
  EXPECT_EQ(error_of(self_signed(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))), "accepted");
}

TEST(Identity, says_why_a_pair_is_refused) {
  const auto ca = make_ca();
  const auto good = make_leaf(ca), other = make_leaf(ca);
  const std::string cut = good.certificates.substr(0, good.certificates.size() / 2);
  std::string garbled = good.certificates;
  garbled.replace(28, 8, "AAAAAAAA");
  const struct {
    const char* what;
    PemPair pair;
    const char* message;
  } cases[] = {
      {"empty", {"", ""}, "there is no certificate"},
      {"no PEM", {"hello", good.key}, "there is no certificate"},
      {"half a certificate", {cut, good.key}, "malformed"},
      {"bits changed", {garbled, good.key}, "malformed"},
      {"second certificate broken", {good.certificates + cut, good.key}, "certificate 2 of the file is malformed"},
      {"no key", {good.certificates, ""}, "there is no private key"},
      {"certificate as key", {good.certificates, good.certificates}, "there is no private key"},
      {"broken key",
       {good.certificates, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"},
       "the private key is malformed"},
      {"key of another certificate", {good.certificates, other.key}, "does not belong to the certificate CN=gate"},
      {"weak RSA", self_signed(EVP_RSA_gen(1024)), "key type RSA 1024 is not served"},
      {"unusual curve", self_signed(EVP_EC_gen("secp256k1")), "is not served"},
      {"expired", make_leaf(ca, now() - 2h, now() - 1h), "expired at"},
      {"from the future", make_leaf(ca, now() + 1h, now() + 2h), "not valid before"},
  };
  for (const auto& test : cases) EXPECT_THAT(error_of(test.pair), HasSubstr(test.message)) << test.what;
}

TEST(Identity, an_encrypted_key_is_an_error_and_never_a_question) {
  const auto good = make_leaf(make_ca());
  const Bio in = bio_over(good.key), out(BIO_new(BIO_s_mem()));
  const Key key(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
  char password[] = "secret";
  PEM_write_bio_PrivateKey(out.get(), key.get(), EVP_aes_256_cbc(), reinterpret_cast<unsigned char*>(password), 6,
                           nullptr, nullptr);
  EXPECT_THAT(error_of({good.certificates, text_of(out)}), HasSubstr("store it without a passphrase"));
}

TEST(Identity, its_dates_are_inclusive_of_the_beginning_and_exclusive_of_the_end) {
  const Time at = now();  // once: a second may end between two looks
  const auto pair = make_leaf(make_ca(), at - 1h, at + 1h);
  EXPECT_EQ(error_of(pair, at - 1h), "accepted");
  EXPECT_THAT(error_of(pair, at - 1h - 1s), HasSubstr("not valid before"));
  EXPECT_EQ(error_of(pair, at + 1h - 1s), "accepted");
  EXPECT_THAT(error_of(pair, at + 1h), HasSubstr("expired"));
}

TEST(Chain, leads_to_its_own_CA_only) {
  const auto ca = make_ca(), other = make_ca();
  const auto leaf = make_leaf(ca);
  EXPECT_TRUE(verify_chain(leaf.certificates, ca.certificates, now()));
  EXPECT_TRUE(verify_chain(leaf.certificates, other.certificates + ca.certificates, now()));
  EXPECT_FALSE(verify_chain(leaf.certificates, other.certificates, now()));  // same name, another key
  EXPECT_THAT(verify_chain(leaf.certificates, ca.certificates, now() + 13h).error().message, HasSubstr("expired"));
  EXPECT_THAT(verify_chain(leaf.certificates, "", now()).error().message, HasSubstr("in the CA bundle"));
}

TEST(Age, is_late_when_four_fifths_are_over) {
  const Time from = now(), to = from + 100min;
  EXPECT_EQ(age_of(from, to, from - 1s), Age::not_yet_valid);
  EXPECT_EQ(age_of(from, to, from), Age::fresh);
  EXPECT_EQ(age_of(from, to, from + 80min), Age::fresh);
  EXPECT_EQ(age_of(from, to, from + 80min + 1s), Age::late);
  EXPECT_EQ(age_of(from, to, to), Age::expired);
}

}  // namespace
}  // namespace stackgate::certs
