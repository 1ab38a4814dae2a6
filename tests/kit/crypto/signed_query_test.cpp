#include "services/kit/crypto/signed_query.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using namespace stackgate;
using std::chrono::seconds;
using std::chrono::system_clock;

const std::string query_key = "0123456789abcdef0123456789abcdef";
const system_clock::time_point query_now{seconds(1'767'225'600)};
using Extras = std::vector<std::pair<std::string, std::string>>;

std::string put_link(const Extras& extras = {{"size", "17"}}) {
  return crypto::sign_query(query_key, {.method = "PUT", .path = "/a/b", .extras = extras}, query_now + seconds(60));
}

std::string refusal(std::string_view method, std::string_view path, std::string_view query,
                    seconds later = seconds(0)) {
  const auto extras = crypto::verify_query(query_key, method, path, query, query_now + later);
  return extras ? "" : extras.error();
}

TEST(SignedQuery, GivesBackItsExtrasWhateverTheyHold) {
  const Extras extras = {{"size", "17"}, {"name", "a b&c=d\n%/é"}, {"empty", ""}};
  const auto back = crypto::verify_query(query_key, "PUT", "/a/b", put_link(extras), query_now);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, extras);
}

TEST(SignedQuery, EndsWithItsTime) {
  EXPECT_EQ(refusal("PUT", "/a/b", put_link(), seconds(59)), "");
  EXPECT_EQ(refusal("PUT", "/a/b", put_link(), seconds(60)), "the link has expired");
}

TEST(SignedQuery, HoldsForOneMethodAndPath) {
  EXPECT_NE(refusal("GET", "/a/b", put_link()), "");
  EXPECT_NE(refusal("PUT", "/a/c", put_link()), "");
  EXPECT_NE(refusal("PUT", "/a/b/", put_link()), "");
  EXPECT_NE(refusal("PUT\n/a", "/b", put_link()), "");
}

TEST(SignedQuery, RefusesAnyChange) {
  const std::string link = put_link();
  for (std::size_t i = 0; i < link.size(); ++i) {
    std::string changed = link;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_NE(refusal("PUT", "/a/b", changed), "") << i;
  }
  for (const std::string& changed : {link + "&size=18", "size=18&" + link, link + "&signature=x", link + "&",
                                     link + "=", std::string(), std::string("signature="), std::string("&signature=")})
    EXPECT_NE(refusal("PUT", "/a/b", changed), "") << changed;
}

TEST(SignedQuery, RefusesAnotherKeyAndAnEmptyOne) {
  EXPECT_FALSE(crypto::verify_query("another", "PUT", "/a/b", put_link(), query_now));
  const std::string open = crypto::sign_query("", {.method = "PUT", .path = "/a/b"}, query_now + seconds(60));
  EXPECT_FALSE(crypto::verify_query("", "PUT", "/a/b", open, query_now));
}

}  // namespace
