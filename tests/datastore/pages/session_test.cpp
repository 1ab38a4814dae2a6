#include "services/datastore/pages/session.hpp"

#include <gtest/gtest.h>

#include "services/kit/crypto/jwt.hpp"

namespace stackgate::datastore::pages {
namespace {

using namespace std::chrono_literals;
const std::string key(32, 'k');
const Sessions::Time now{std::chrono::seconds(1'800'000'000)};

TEST(Session, IsReadBackUntilItRunsOut) {
  const Sessions sessions(key);
  const std::string cookie = sessions.begin(42, "state", now);
  const auto read = sessions.read(cookie, now + 6 * 24h);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->account, 42);
  EXPECT_EQ(read->stamp, sessions.stamp_of(42, "state"));
  EXPECT_FALSE(sessions.read(cookie, now + Sessions::life + 1min));
}

TEST(Session, EndsWithAChangeOfTheAccount) {
  const Sessions sessions(key);
  const auto read = sessions.read(sessions.begin(42, "before", now), now);
  EXPECT_NE(read->stamp, sessions.stamp_of(42, "after"));
  EXPECT_NE(read->stamp, sessions.stamp_of(43, "before"));
}

TEST(Session, IsNotMadeByAnybodyElse) {
  const Sessions sessions(key), others(std::string(32, 'x'));
  EXPECT_FALSE(sessions.read(others.begin(42, "", now), now));
  // The service's own key signs tokens of Git LFS; they are no sessions.
  EXPECT_FALSE(sessions.read(crypto::sign_jwt(key, R"({"sub":"42","stamp":"","exp":1900000000})"), now));
  std::string changed = sessions.begin(42, "", now);
  changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(sessions.read(changed, now));
  for (const std::string_view bad : {"", "a", "..", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiI0MiJ9."})
    EXPECT_FALSE(sessions.read(bad, now)) << bad;
  EXPECT_FALSE(sessions.read(std::string(5000, 'a'), now));
}

TEST(FormToken, BelongsToOneCookie) {
  const Sessions sessions(key);
  const std::string a = sessions.begin(42, "", now), b = sessions.begin(42, "", now);
  EXPECT_NE(a, b);
  EXPECT_TRUE(sessions.is_form_token(a, sessions.form_token(a)));
  EXPECT_FALSE(sessions.is_form_token(a, sessions.form_token(b)));
  EXPECT_FALSE(sessions.is_form_token(a, ""));
  EXPECT_FALSE(sessions.is_form_token(a, a));
  EXPECT_FALSE(sessions.is_form_token("", sessions.form_token(""))) << "no cookie, no form";
}

struct Sent {
  std::string_view name, header, value;
  bool good;
};
class Forms : public testing::TestWithParam<Sent> {};

TEST_P(Forms, AreTakenFromOwnPagesOnly) {
  http::Request request{.method = "POST", .path = "/-/new"};
  if (!GetParam().header.empty()) request.headers.push_back({GetParam().header, GetParam().value});
  EXPECT_EQ(sent_by_own_page(request, "https://data.example:8000"), GetParam().good);
}

INSTANTIATE_TEST_SUITE_P(Headers, Forms,
                         testing::Values(Sent{"None", "", "", true},
                                         Sent{"SameOrigin", "Sec-Fetch-Site", "same-origin", true},
                                         Sent{"SameSite", "Sec-Fetch-Site", "same-site", false},
                                         Sent{"CrossSite", "Sec-Fetch-Site", "cross-site", false},
                                         Sent{"Typed", "Sec-Fetch-Site", "none", false},
                                         Sent{"OwnOrigin", "Origin", "https://data.example:8000", true},
                                         Sent{"OwnOriginInCapitals", "Origin", "HTTPS://Data.example:8000", true},
                                         Sent{"OtherOrigin", "Origin", "https://evil.example", false},
                                         Sent{"OtherPort", "Origin", "https://data.example", false},
                                         Sent{"OtherScheme", "Origin", "http://data.example:8000", false},
                                         Sent{"NullOrigin", "Origin", "null", false}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace stackgate::datastore::pages
