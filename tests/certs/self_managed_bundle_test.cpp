#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certs/ca_bundle.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::certs {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string pem(std::string_view body) {
  return fmt::format("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", body);
}

std::string configuration(const std::vector<std::string>& bundles, std::string_view annotation = "") {
  std::string webhooks;
  for (const std::string& bundle : bundles)
    webhooks += fmt::format(R"({}{{"name":"w","clientConfig":{{{}}}}})", webhooks.empty() ? "" : ",",
                            bundle.empty() ? "" : fmt::format(R"("caBundle":"{}")", bundle));
  return fmt::format(
      R"({{"metadata":{{"name":"stackgate-gate","resourceVersion":"7","annotations":{{{}}}}},"webhooks":[{}]}})",
      annotation, webhooks);
}

std::optional<std::string> patch(const std::string& text, std::string_view wanted) {
  json::Document document;
  EXPECT_TRUE(json::parse(text, document)) << text;
  auto made = bundle_patch(document.root, wanted);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

TEST(CaBundle, is_the_same_in_any_order_and_wrapping) {
  EXPECT_TRUE(same_certificates(pem("AAAA") + pem("BBBB"), "# mine\n" + pem("BB\nBB") + "\r\n" + pem("AAAA")));
  EXPECT_FALSE(same_certificates(pem("AAAA"), pem("AAAA") + pem("BBBB")));
  EXPECT_FALSE(same_certificates(pem("AAAA"), ""));
  EXPECT_TRUE(same_certificates("", "text -----BEGIN CERTIFICATE----- unfinished"));
}

TEST(CaBundle, that_is_right_is_left_alone) {
  const std::string wanted = pem("AAAA") + pem("BBBB");
  EXPECT_EQ(patch(configuration({base64::encode(wanted), base64::encode(pem("BBBB") + pem("AAAA"))}), wanted),
            std::nullopt);
}

TEST(CaBundle, is_set_only_where_it_differs) {
  const std::string wanted = pem("AAAA");
  const auto made =
      patch(configuration({base64::encode(wanted), "", base64::encode(pem("BBBB")), "Cg==", "?"}), wanted);
  ASSERT_TRUE(made);
  EXPECT_THAT(*made, HasSubstr(R"({"op":"test","path":"/metadata/resourceVersion","value":"7"})"));
  EXPECT_THAT(*made, Not(HasSubstr("/webhooks/0/")));
  for (const int i : {1, 2, 3, 4})
    EXPECT_THAT(*made,
                HasSubstr(fmt::format(R"({{"op":"add","path":"/webhooks/{}/clientConfig/caBundle","value":"{}"}})", i,
                                      base64::encode(wanted))));
}

TEST(CaBundle, of_a_configuration_without_webhooks_is_nothing_to_do) {
  EXPECT_EQ(patch(R"({"metadata":{}})", pem("AAAA")), std::nullopt);
  EXPECT_EQ(patch(configuration({}), pem("AAAA")), std::nullopt);
}

TEST(CaBundle, that_cert_manager_injects_is_not_fought_over) {
  json::Document document;
  const std::string text =
      configuration({""}, R"("cert-manager.io/inject-ca-from":"stackgate-system/stackgate-webhook")");
  ASSERT_TRUE(json::parse(text, document));
  const auto made = bundle_patch(document.root, pem("AAAA"));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("cert-manager.io/inject-ca-from: remove it"));
}

}  // namespace
}  // namespace stackgate::certs
