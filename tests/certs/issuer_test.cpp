#include "certs/issuer.hpp"

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/certs/pairs.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::certs {
namespace {

using namespace test;
using testing::HasSubstr;

std::string run(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string out;
  char part[4096];
  while (const auto n = std::fread(part, 1, sizeof part, pipe)) out.append(part, n);
  ::pclose(pipe);
  return out;
}

TEST(Issuer, makes_what_the_openssl_tool_verifies_for_a_server_of_that_name) {
  const stackgate::test::TempDir dir;
  const auto ca = make_ca();
  const auto leaf = make_leaf(ca);
  dir.write("ca.pem", ca.certificates);
  dir.write("leaf.pem", leaf.certificates);
  const std::string verify = "openssl verify -x509_strict -purpose sslserver -CAfile " + dir / "ca.pem";
  EXPECT_THAT(run(verify + " -verify_hostname gate.test.svc " + dir / "leaf.pem"), HasSubstr("OK"));
  EXPECT_THAT(run(verify + " -verify_ip ::1 " + dir / "leaf.pem"), HasSubstr("OK"));
  EXPECT_THAT(run(verify + " -verify_hostname other.test.svc " + dir / "leaf.pem"), HasSubstr("hostname mismatch"));

  const auto text = run("openssl x509 -noout -text -in " + dir / "leaf.pem");
  EXPECT_THAT(text, HasSubstr("ecdsa-with-SHA256"));
  EXPECT_THAT(text, HasSubstr("CA:FALSE"));
  EXPECT_THAT(text, HasSubstr("Digital Signature"));
  EXPECT_THAT(text, HasSubstr("TLS Web Server Authentication"));
  EXPECT_THAT(run("openssl x509 -noout -text -in " + dir / "ca.pem"), HasSubstr("CA:TRUE, pathlen:0"));
}

TEST(Issuer, no_two_certificates_share_key_or_serial) {
  const auto ca = make_ca();
  const auto one = make_leaf(ca), two = make_leaf(ca);
  EXPECT_NE(one.key, two.key);
  EXPECT_NE(must(describe(one.certificates)).serial, must(describe(two.certificates)).serial);
}

TEST(Issuer, a_name_with_a_comma_stays_one_name) {
  const auto leaf = must(issue_leaf(
      make_ca(), {.common_name = "x", .dns_names = {"a,DNS:b"}, .not_before = now(), .not_after = now() + 1h}));
  EXPECT_THAT(must(describe(leaf.certificates)).dns_names, testing::ElementsAre("a,DNS:b"));
}

TEST(Issuer, says_what_it_cannot_do) {
  const auto ca = make_ca(), other = make_ca();
  const auto leaf = make_leaf(ca);
  const Subject good{.common_name = "x", .dns_names = {"x"}, .not_before = now(), .not_after = now() + 1h};
  const auto message = [](const auto& result) { return result ? std::string("made") : result.error().message; };
  EXPECT_EQ(message(issue_leaf(ca, good)), "made");
  EXPECT_THAT(message(issue_leaf({"", ""}, good)), HasSubstr("the CA cannot be read"));
  EXPECT_THAT(message(issue_leaf({ca.certificates, other.key}, good)), HasSubstr("the CA's key is not its own"));
  EXPECT_THAT(message(issue_leaf(leaf, good)), HasSubstr("what should sign is no CA"));
  Subject bad = good;
  bad.dns_names.clear();
  EXPECT_THAT(message(issue_leaf(ca, bad)), HasSubstr("needs a DNS name"));
  bad = good;
  bad.ip_addresses = {"1.2.3"};
  EXPECT_THAT(message(issue_leaf(ca, bad)), HasSubstr("\"1.2.3\" is no IP address"));
  bad = good;
  bad.not_after = bad.not_before;
  EXPECT_THAT(message(issue_leaf(ca, bad)), HasSubstr("ends before it begins"));
}

}  // namespace
}  // namespace stackgate::certs
