#include "services/datastore/lfs/grant.hpp"

#include <gtest/gtest.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/crypto/jwt.hpp"

namespace stackgate::datastore::lfs {
namespace {

using namespace std::chrono_literals;

const std::string test_key(32, 'k');
const std::string granted_oid(64, 'a'), other_granted_oid(64, 'b');
const auto test_now = std::chrono::system_clock::time_point(1'800'000'000s);

Grant grant_for(Operation operation) {
  return {.repository = 7, .user = 3, .operation = operation, .oid = granted_oid, .size = 12};
}

TEST(Grant, SurvivesItsToken) {
  const auto read = read_grant(test_key, sign_grant(test_key, grant_for(Operation::upload), test_now), test_now + 1min);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->repository, 7);
  EXPECT_EQ(read->user, 3);
  EXPECT_EQ(read->operation, Operation::upload);
  EXPECT_EQ(read->oid, granted_oid);
  EXPECT_EQ(read->size, 12U);
}

TEST(Grant, IsForOneRepositoryOneFileAndItsOperation) {
  const Grant up = grant_for(Operation::upload), down = grant_for(Operation::download);
  EXPECT_TRUE(up.allows(7, Operation::upload, granted_oid));
  EXPECT_TRUE(up.allows(7, Operation::download, granted_oid)) << "who may write may read";
  EXPECT_FALSE(down.allows(7, Operation::upload, granted_oid));
  EXPECT_TRUE(down.allows(7, Operation::download, granted_oid));
  EXPECT_FALSE(up.allows(8, Operation::upload, granted_oid));
  EXPECT_FALSE(up.allows(7, Operation::upload, other_granted_oid));
}

TEST(Grant, DoesNotOutliveItsTime) {
  const std::string token = sign_grant(test_key, grant_for(Operation::upload), test_now);
  EXPECT_TRUE(read_grant(test_key, token, test_now + grant_life - 1s));
  EXPECT_FALSE(read_grant(test_key, token, test_now + grant_life + 1min));
  EXPECT_FALSE(read_grant(test_key, token, test_now - 5min)) << "not before";
}

TEST(Grant, RefusesEveryAlgorithmTrick) {
  const std::string token = sign_grant(test_key, grant_for(Operation::upload), test_now);
  const std::string payload = token.substr(token.find('.') + 1, token.rfind('.') - token.find('.') - 1);
  const std::string signature = token.substr(token.rfind('.'));
  const auto with_header = [&](const std::string& header, const std::string& sign) {
    return base64::encode_url(header) + "." + payload + sign;
  };
  for (const std::string header :
       {R"({"alg":"none","typ":"JWT"})", R"({"alg":"None"})", R"({"alg":"HS512","typ":"JWT"})",
        R"({"alg":"RS256","typ":"JWT"})", R"({"typ":"JWT"})"})
    for (const std::string& sign : std::vector<std::string>{signature, "."})
      EXPECT_FALSE(read_grant(test_key, with_header(header, sign), test_now)) << header;
  EXPECT_FALSE(read_grant(std::string(32, 'x'), token, test_now));
  EXPECT_FALSE(read_grant(test_key, token.substr(0, token.size() - 2), test_now));
}

TEST(Grant, RefusesASignedTokenThatIsNotOne) {
  for (const std::string& claims : std::vector<std::string>{
           R"({"exp":1800000100})", R"({"RepoID":"7","UserID":3,"Op":"upload","Oid":"x","Size":1,"exp":1800000100})",
           R"({"RepoID":7,"UserID":3,"Op":"delete","Oid":")" + granted_oid + R"(","Size":1,"exp":1800000100})",
           R"({"RepoID":7,"UserID":3,"Op":"upload","Oid":")" + granted_oid + R"(","Size":-1,"exp":1800000100})",
           R"({"RepoID":7,"UserID":3,"Op":"upload","Size":1,"exp":1800000100})"})
    EXPECT_FALSE(read_grant(test_key, crypto::sign_jwt(test_key, claims), test_now)) << claims;
}

TEST(RepositoryGrant, IsReadAsGiteaSignsItForOneRepositoryAndItsOperation) {
  const std::string claims = R"({"RepoID":7,"Op":"download","UserID":3,"exp":1800000100,"nbf":1799999990})";
  const auto down = read_repository_grant(test_key, crypto::sign_jwt(test_key, claims), test_now);
  ASSERT_TRUE(down) << down.error();
  EXPECT_EQ(down->user, 3);
  EXPECT_TRUE(down->allows(7, Operation::download));
  EXPECT_FALSE(down->allows(7, Operation::upload));
  EXPECT_FALSE(down->allows(8, Operation::download));
  const RepositoryGrant up{.repository = 7, .user = 3, .operation = Operation::upload};
  EXPECT_TRUE(up.allows(7, Operation::upload) && up.allows(7, Operation::download));
  const std::string spelt = base64::encode_url(test_key);
  ASSERT_EQ(spelt.size(), 43U);
  EXPECT_TRUE(read_repository_grant(spelt, crypto::sign_jwt(test_key, claims), test_now)) << "the key as Gitea has it";
  EXPECT_TRUE(read_repository_grant(spelt, crypto::sign_jwt(spelt, claims), test_now)) << "and as we have it";
}

TEST(RepositoryGrant, RefusesTokensOfFilesAndWhatIsNone) {
  EXPECT_FALSE(read_repository_grant(test_key, sign_grant(test_key, grant_for(Operation::upload), test_now), test_now));
  for (const std::string claims :
       {R"({"RepoID":7,"Op":"upload","UserID":3})", R"({"RepoID":7,"Op":"upload","UserID":3,"exp":1799990000})",
        R"({"RepoID":7,"Op":"upload","UserID":3,"exp":1800000100,"nbf":1800009000})",
        R"({"RepoID":7,"Op":"delete","UserID":3,"exp":1800000100})",
        R"({"RepoID":7,"Op":1,"UserID":3,"exp":1800000100})",
        R"({"RepoID":"7","Op":"upload","UserID":3,"exp":1800000100})",
        R"({"RepoID":0,"Op":"upload","UserID":0,"exp":1800000100})", R"({"Op":"upload","UserID":3,"exp":1800000100})"})
    EXPECT_FALSE(read_repository_grant(test_key, crypto::sign_jwt(test_key, claims), test_now)) << claims;
  const std::string good = R"({"RepoID":7,"Op":"upload","UserID":3,"exp":1800000100})";
  EXPECT_FALSE(read_repository_grant(std::string(32, 'x'), crypto::sign_jwt(test_key, good), test_now));
}

TEST(BearerJwt, TellsATokenOfOursFromAPersonalOne) {
  EXPECT_EQ(bearer_jwt("Bearer a.b.c"), "a.b.c");
  EXPECT_EQ(bearer_jwt("bEARER a.b.c"), "a.b.c");
  for (std::string_view other : {"", "Bearer", "Bearer ", "Bearer abc", "Bearer a.b", "Basic a.b.c", "token a.b.c"})
    EXPECT_FALSE(bearer_jwt(other)) << other;
}

TEST(SignedUrl, IsForOneMethodOnePathAndItsTime) {
  const std::string path = "/o/r.git/info/lfs/objects/" + granted_oid;
  const std::string query = sign_url(test_key, "PUT", path, grant_for(Operation::upload), test_now);
  const auto read = read_url(test_key, "PUT", path, query, granted_oid, test_now + 1h);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->repository, 7);
  EXPECT_EQ(read->user, 3);
  EXPECT_EQ(read->size, 12U);
  EXPECT_EQ(read->operation, Operation::upload);
  EXPECT_FALSE(read_url(test_key, "GET", path, query, granted_oid, test_now));
  EXPECT_FALSE(read_url(test_key, "PUT", "/o/other.git/info/lfs/objects/" + granted_oid, query, granted_oid, test_now));
  EXPECT_FALSE(read_url(test_key, "PUT", path, query + "&size=1", granted_oid, test_now));
  EXPECT_FALSE(read_url(test_key, "PUT", path, query, granted_oid, test_now + url_life + 1h));
  EXPECT_FALSE(read_url(std::string(32, 'x'), "PUT", path, query, granted_oid, test_now));
}

TEST(SignedUrl, CarriesTheUploadInParts) {
  Grant grant = grant_for(Operation::upload);
  grant.upload = "s3:2~abc/+=";
  grant.parts = 17;
  const auto read =
      read_url(test_key, "POST", "/p", sign_url(test_key, "POST", "/p", grant, test_now), granted_oid, test_now);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->upload, grant.upload);
  EXPECT_EQ(read->parts, 17U);
}

}  // namespace
}  // namespace stackgate::datastore::lfs
