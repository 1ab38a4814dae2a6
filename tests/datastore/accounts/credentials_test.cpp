#include "services/datastore/accounts/credentials.hpp"

#include <gtest/gtest.h>

#include "services/datastore/accounts/accounts.hpp"
#include "services/kit/base/base64.hpp"

namespace stackgate::datastore {
namespace {

using Kind = Credentials::Kind;
const std::string some_token = "hf_sg" + std::string(40, '7');

struct HeaderCase {
  std::string header;
  Kind kind;
  std::string name, secret;
};

TEST(Credentials, AreReadFromEveryFormThatClientsSend) {
  const auto b = [](const std::string& text) { return base64::encode(text); };
  const HeaderCase cases[] = {
      {"", Kind::none, "", ""},
      {"Bearer", Kind::none, "", ""},
      {"Bearer ", Kind::none, "", ""},
      {"Basic " + b("ann:secret"), Kind::password, "ann", "secret"},
      {"basic " + b("ann:a:b"), Kind::password, "ann", "a:b"},
      {"Basic " + b("ann:" + some_token), Kind::token, "ann", some_token},
      {"Basic " + b(some_token + ":"), Kind::token, "", some_token},
      {"Basic " + b(some_token + ":x-oauth-basic"), Kind::token, "", some_token},
      {"Basic " + b("no colon"), Kind::malformed, "", ""},
      {"Basic !!!", Kind::malformed, "", ""},
      {"Digest x", Kind::malformed, "", ""},
      {"token " + some_token, Kind::token, "", some_token},
      {"Bearer " + some_token, Kind::token, "", some_token},
      {"Bearer dummy", Kind::token, "", "dummy"},
      {"Bearer " + b("ann:secret"), Kind::password, "ann", "secret"},
      {"Bearer " + b("ann:" + some_token), Kind::token, "ann", some_token},
  };
  for (const auto& each : cases) {
    const Credentials got = read_credentials(each.header);
    EXPECT_EQ(got.kind, each.kind) << each.header;
    EXPECT_EQ(got.secret, each.secret) << each.header;
    if (got.kind == Kind::password) {
      EXPECT_EQ(got.name, each.name) << each.header;
    }
  }
}

TEST(AccountNames, ThatUrlsAndFileSystemsCanBearAreTaken) {
  for (const char* good : {"a", "admin", "Ann-Smith", "x_1", "team.ml", "git"})
    EXPECT_FALSE(fault_of_account_name(good)) << good;
  for (const std::string bad :
       {"", "-a", "a-", ".a", "a..b", "a b", "a/b", "ä", "api", "V1", "datasets", "x.git", "a\n"})
    EXPECT_TRUE(fault_of_account_name(bad)) << bad;
  EXPECT_FALSE(fault_of_account_name(std::string(40, 'a')));
  EXPECT_TRUE(fault_of_account_name(std::string(41, 'a')));
}

}  // namespace
}  // namespace stackgate::datastore
