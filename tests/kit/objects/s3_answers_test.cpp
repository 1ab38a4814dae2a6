#include "services/kit/objects/s3_answers.hpp"

#include <string>

#include <gtest/gtest.h>

#include "services/kit/objects/s3_transfer.hpp"

namespace {

using namespace stackgate;
using objects::Fault;

TEST(S3Answers, ReadsAPageOfAList) {
  const auto page = objects::parse_list(
      R"(<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <Name>b</Name><IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1</NextContinuationToken>
      <Contents><Key>a%2Fb%20c</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
      <ETag>&quot;f&quot;</ETag><Size>434234</Size></Contents>
      <Contents><Key>d</Key><Size>0</Size></Contents></ListBucketResult>)");
  ASSERT_TRUE(page) << page.error();
  ASSERT_EQ(page->entries.size(), 2U);
  EXPECT_EQ(page->entries[0].key, "a/b c");
  EXPECT_EQ(page->entries[0].info.size, 434'234U);
  EXPECT_EQ(page->entries[0].info.etag, "\"f\"");
  EXPECT_EQ(page->entries[0].info.modified, std::chrono::system_clock::time_point(std::chrono::seconds(1'255'369'830)));
  EXPECT_EQ(page->next, "t&1");
}

TEST(S3Answers, RefusesListsThatMakeNoSense) {
  for (const char* xml : {"", "x", "<", "<a/>", "<html><body>login</body></html>", "<ListBucketResult>",
                          "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Key>a%2</Key><Size>1</Size></Contents></ListBucketResult>",
                          "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>"})
    EXPECT_FALSE(objects::parse_list(xml)) << xml;
}

TEST(S3Answers, DoesNotExpandEntities) {
  const auto fault = objects::parse_fault(
      R"(<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b "&a;&a;">]><Error><Code>&a;&b;</Code></Error>)");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, "&a;&b;");
}

TEST(S3Answers, ReadsAnUploadId) {
  EXPECT_EQ(objects::parse_upload_id(
                "<InitiateMultipartUploadResult><UploadId>2~x</UploadId></InitiateMultipartUploadResult>"),
            "2~x");
  EXPECT_FALSE(objects::parse_upload_id("<InitiateMultipartUploadResult/>"));
  EXPECT_FALSE(objects::parse_upload_id("<Error/>"));
}

TEST(S3Answers, EscapesETags) {
  EXPECT_EQ(objects::complete_body({{1, "\"a\""}, {2, "<&>"}}),
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>\"a\"</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>&lt;&amp;&gt;</ETag></Part></CompleteMultipartUpload>");
}

struct ExplainCase {
  int status;
  const char* code;
  Fault fault;
  const char* advice;
};

TEST(S3Answers, SaysWhatToChange) {
  for (const auto& [status, code, fault, advice] : {
           ExplainCase{404, "NoSuchKey", Fault::missing, "NoSuchKey"},
           ExplainCase{404, "NoSuchBucket", Fault::refused, "correct --s3-bucket: \"my-bucket\""},
           ExplainCase{403, "InvalidAccessKeyId", Fault::refused, "correct S3_ACCESS_KEY"},
           ExplainCase{403, "SignatureDoesNotMatch", Fault::refused, "S3_SECRET_KEY is not"},
           ExplainCase{403, "AccessDenied", Fault::refused, "give the user of S3_ACCESS_KEY the right"},
           ExplainCase{403, "RequestTimeTooSkewed", Fault::refused, "clock"},
           ExplainCase{403, "QuotaExceeded", Fault::full, "quota"},
           ExplainCase{503, "SlowDown", Fault::away, "slow down"},
           ExplainCase{400, "Unheard", Fault::refused, "Unheard"},
           ExplainCase{500, "Unheard", Fault::away, "Unheard"},
           ExplainCase{404, nullptr, Fault::missing, "404"},
           ExplainCase{403, nullptr, Fault::refused, "S3_ACCESS_KEY and S3_SECRET_KEY"},
           ExplainCase{502, nullptr, Fault::away, "502"},
           ExplainCase{200, "InternalError", Fault::away, "InternalError"},
       }) {
    const auto s3 = code == nullptr ? std::nullopt : std::optional(objects::S3Fault{.code = code});
    const auto error = objects::explain(status, s3, "cannot read", "my-bucket");
    EXPECT_EQ(error.fault, fault) << error.message;
    EXPECT_TRUE(error.message.starts_with("cannot read: ") && error.message.contains(advice)) << error.message;
  }
}

TEST(S3Parts, ReachFiveTebibytesInTenThousand) {
  constexpr std::uint64_t mib = 1ULL << 20U;
  EXPECT_EQ(objects::next_part_size(8 * mib, 100, 0), 8 * mib);
  for (const std::uint64_t size : {80ULL << 30U, 500ULL << 30U, 5ULL << 40U})
    EXPECT_GE(objects::next_part_size(8 * mib, size, 0) * 10'000, size);
  EXPECT_EQ(objects::next_part_size(8 * mib, {}, 0), 8 * mib);
  EXPECT_EQ(objects::next_part_size(8 * mib, {}, 9'999), 64 * mib);
}

}  // namespace
