#include "services/kit/objects/sigv4.hpp"

#include <string>

#include <gtest/gtest.h>

#include "services/kit/crypto/digest.hpp"

namespace {

using namespace stackgate::objects;

// Amazon's published examples ("Examples: Signature Calculations", 24 May 2013).
const sigv4::Credentials example{.access_key = "AKIAIOSFODNN7EXAMPLE",
                                 .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
const sigv4::Time example_day = std::chrono::sys_days(std::chrono::year(2013) / 5 / 24);
const std::string empty_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string authorization_of(const sigv4::Request& request, std::string_view hash) {
  const auto added = sigv4::sign_headers(example, sigv4::derive_key(example, example_day), request, hash, example_day);
  EXPECT_EQ(added.back().first, "authorization");
  return added.back().second;
}

TEST(SigV4, SignsAGetWithRangeAsPublished) {
  const sigv4::Request request{.method = "GET",
                               .path = "/test.txt",
                               .headers = {{"range", "bytes=0-9"}, {"host", "examplebucket.s3.amazonaws.com"}}};
  EXPECT_EQ(authorization_of(request, empty_hash),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SigV4, SignsAPutWithASpecialPathAsPublished) {
  const sigv4::Request request{.method = "PUT",
                               .path = "/test$file.text",
                               .headers = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
                                           {"host", "examplebucket.s3.amazonaws.com"},
                                           {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}};
  const auto hash = stackgate::crypto::to_hex(stackgate::crypto::sha256("Welcome to Amazon S3."));
  EXPECT_TRUE(authorization_of(request, hash)
                  .ends_with("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(SigV4, SignsAQueryWithoutValueAsPublished) {
  const sigv4::Request request{.method = "GET",
                               .path = "/",
                               .query = {{"lifecycle", ""}},
                               .headers = {{"host", "examplebucket.s3.amazonaws.com"}}};
  EXPECT_TRUE(authorization_of(request, empty_hash)
                  .ends_with("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  EXPECT_EQ(sigv4::target_of(request), "/?lifecycle=");
}

TEST(SigV4, SignsAListAsPublished) {
  const sigv4::Request request{.method = "GET",
                               .path = "/",
                               .query = {{"prefix", "J"}, {"max-keys", "2"}},
                               .headers = {{"host", "examplebucket.s3.amazonaws.com"}}};
  EXPECT_TRUE(authorization_of(request, empty_hash)
                  .ends_with("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(SigV4, PresignsAsPublished) {
  const sigv4::Request request{
      .method = "GET", .path = "/test.txt", .headers = {{"host", "examplebucket.s3.amazonaws.com"}}};
  EXPECT_EQ(sigv4::presign(example, sigv4::derive_key(example, example_day), request, example_day,
                           std::chrono::seconds(86'400)),
            "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
            "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
            "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(SigV4, WritesTheTimeInUtc) {
  EXPECT_EQ(sigv4::amz_date(sigv4::Time(std::chrono::seconds(0))), "19700101T000000Z");
  EXPECT_EQ(sigv4::amz_date(sigv4::Time(std::chrono::seconds(1'709'251'199))), "20240229T235959Z");
}

TEST(SigV4, EncodesEveryByteThatIsNotUnreserved) {
  std::string out;
  sigv4::append_encoded(out, "a/b c~+=%\xc3\xa9", true);
  EXPECT_EQ(out, "a/b%20c~%2B%3D%25%C3%A9");
  out.clear();
  sigv4::append_encoded(out, "/", false);
  EXPECT_EQ(out, "%2F");
}

}  // namespace
