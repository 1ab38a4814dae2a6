#include "services/kit/crypto/jwt.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/crypto/digest.hpp"

namespace {

using namespace stackgate;
using std::chrono::seconds;
using std::chrono::system_clock;

const std::string jwt_key = "0123456789abcdef0123456789abcdef";
const system_clock::time_point jwt_now{seconds(1'767'225'600)};

// A token with any header, signed with our key as HS256 would.
std::string forged(std::string_view header, std::string_view claims) {
  std::string token = base64::encode_url(header) + "." + base64::encode_url(claims);
  const crypto::Sha256 mac = crypto::hmac_sha256(jwt_key, token);
  return token + "." + base64::encode_url({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

std::string refusal_of(std::string_view token, std::string_view key = jwt_key) {
  const auto claims = crypto::verify_jwt(key, token, jwt_now);
  return claims ? "" : claims.error();
}

const std::string good_claims = R"({"exp":1767225700,"RepoID":7,"Op":"upload","UserID":3})";
const std::string good_header = R"({"alg":"HS256","typ":"JWT"})";

TEST(Jwt, AcceptsTheExampleOfRfc7515) {
  const std::string key =
      *base64::decode_url("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  const std::string token =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
      ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
      ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  const auto claims = crypto::verify_jwt(key, token, system_clock::time_point(seconds(1'300'819'379)));
  ASSERT_TRUE(claims) << claims.error();
  EXPECT_EQ(claims->root.find("iss")->string(), "joe");
  EXPECT_TRUE(claims->root.find("http://example.com/is_root")->boolean());
  EXPECT_FALSE(crypto::verify_jwt(key, token, system_clock::time_point(seconds(1'300'819'411))));
}

TEST(Jwt, ReadsBackWhatItSigns) {
  const auto claims = crypto::verify_jwt(jwt_key, crypto::sign_jwt(jwt_key, good_claims), jwt_now);
  ASSERT_TRUE(claims) << claims.error();
  EXPECT_EQ(claims->root.find("RepoID")->integer(), 7);
  EXPECT_EQ(claims->root.find("Op")->string(), "upload");
}

TEST(Jwt, KeepsItsClaimsWhenTheTokenIsGone) {
  std::optional<json::Document> kept;
  {
    std::string token =
        crypto::sign_jwt(jwt_key, R"({"exp":1767225700,"a":["long enough to be no small string",{"b":"c"}]})");
    kept = std::move(*crypto::verify_jwt(jwt_key, token, jwt_now));
    token.assign(token.size(), '!');
  }
  EXPECT_EQ(kept->root.find("a")->items()[0].string(), "long enough to be no small string");
  EXPECT_EQ(kept->root.find("a")->items()[1].find("b")->string(), "c");
}

TEST(Jwt, RefusesEveryAlgorithmButItsOwnEvenWhenTheSignatureFits) {
  for (const char* header : {R"({"alg":"none"})",
                             R"({"alg":"None"})",
                             R"({"alg":""})",
                             R"({"alg":null})",
                             R"({})",
                             R"({"alg":"HS512"})",
                             R"({"alg":"HS384"})",
                             R"({"alg":"RS256"})",
                             R"({"alg":"ES256"})",
                             R"({"alg":"hs256"})",
                             R"({"ALG":"HS256"})",
                             R"({"alg":"HS256 "})",
                             R"({"alg":["HS256"]})",
                             R"({"alg":"HS256","alg":"none"})",
                             R"({"alg":"none","alg":"HS256"})",
                             R"({"alg":"HS256","crit":["exp"]})",
                             R"("HS256")",
                             R"([])",
                             "",
                             "{",
                             R"({"alg":"HS256"} x)"})
    EXPECT_NE(refusal_of(forged(header, good_claims)), "") << header;
  EXPECT_EQ(refusal_of(forged(good_header, good_claims)), "");
}

TEST(Jwt, RefusesATokenWithoutSignature) {
  const std::string body = base64::encode_url(R"({"alg":"none"})") + "." + base64::encode_url(good_claims);
  EXPECT_NE(refusal_of(body + "."), "");
  EXPECT_NE(refusal_of(body), "");
  const std::string signed_body = base64::encode_url(good_header) + "." + base64::encode_url(good_claims);
  EXPECT_EQ(refusal_of(signed_body + "."), "the signature does not match");
}

TEST(Jwt, RefusesWhatWasChangedAnywhere) {
  const std::string token = crypto::sign_jwt(jwt_key, good_claims);
  for (std::size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_NE(refusal_of(changed), "") << i;
  }
}

TEST(Jwt, RefusesOtherSpellingsOfTheSameBytes) {
  const std::string token = crypto::sign_jwt(jwt_key, good_claims);
  for (const std::string& spelling : {token + "=", token + "\n", " " + token, token + ".", "." + token, token + "AAAA"})
    EXPECT_NE(refusal_of(spelling), "") << spelling;
}

TEST(Jwt, RefusesGarbageAndOversize) {
  for (const char* token : {"", ".", "..", "...", "a.b.c", "e30.e30.e30", "\xff\xfe.\x00.\x01", "null"})
    EXPECT_NE(refusal_of(token), "") << token;
  EXPECT_EQ(refusal_of(crypto::sign_jwt(jwt_key, R"({"exp":1767225700,"pad":")" + std::string(8'000, 'x') + "\"}")),
            "the token is longer than 8 KiB");
}

TEST(Jwt, RefusesAnotherKeyAndAnEmptyOne) {
  const std::string token = crypto::sign_jwt(jwt_key, good_claims);
  EXPECT_EQ(refusal_of(token, "another key, 32 bytes long or so"), "the signature does not match");
  EXPECT_EQ(refusal_of(crypto::sign_jwt("", good_claims), ""), "no key is configured");
}

TEST(Jwt, HoldsTheTimesWithLeeway) {
  const auto refusal = [](const std::string& claims) { return refusal_of(crypto::sign_jwt(jwt_key, claims)); };
  EXPECT_EQ(refusal(R"({"exp":1767225571})"), "");  // 29 s ago
  EXPECT_EQ(refusal(R"({"exp":1767225570})"), "the token has expired");
  EXPECT_EQ(refusal(R"({"exp":1767225700,"nbf":1767225630})"), "");
  EXPECT_EQ(refusal(R"({"exp":1767225700,"nbf":1767225631})"), "the token is not valid yet");
  EXPECT_EQ(refusal(R"({"exp":1767225700.5})"), "");
}

TEST(Jwt, RefusesTimesThatAreNone) {
  for (const char* claims :
       {R"({})", R"({"exp":"1767225700"})", R"({"exp":-1})", R"({"exp":1e300})", R"({"exp":null})", R"({"exp":true})",
        R"({"exp":9999999999999999999})", R"({"exp":1767225700,"nbf":"now"})", R"({"exp":1767225700,"iat":[]})",
        R"({"exp":1767225700,"nbf":1e400})", R"({"exp":1,"exp":1767225700})", R"([1767225700])", R"("exp")", "", "{"})
    EXPECT_NE(refusal_of(crypto::sign_jwt(jwt_key, claims)), "") << claims;
}

TEST(Jwt, SaysNothingSecretInItsRefusals) {
  EXPECT_FALSE(refusal_of(crypto::sign_jwt("x", good_claims)).contains(jwt_key));
}

}  // namespace
