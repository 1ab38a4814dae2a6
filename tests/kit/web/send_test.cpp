#include "services/kit/web/send.hpp"

#include <cstring>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/kit/web/app_support.hpp"

namespace stackgate::web {
namespace {

using test::ask;
using testing::HasSubstr;

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";

// The same content three ways.
class SendContent : public testing::Test {
 protected:
  SendContent() {
    fd_ = ::memfd_create("content", 0);
    EXPECT_EQ(::write(fd_, letters.data(), letters.size()), static_cast<ssize_t>(letters.size()));
    const auto base = [] {
      Content content;
      content.size = letters.size();
      content.type = "text/plain";
      content.validators = {"\"v1\"", std::chrono::sys_seconds(std::chrono::seconds(784111777))};
      content.headers = {{"X-Repo-Commit", "c0ffee"}};
      return content;
    };
    app_ = test::start({
        {"GET", "/fd",
         [this, base](Call& call) {
           Content content = base();
           content.fd = fd_;
           return send_content(call, content);
         }},
        {"GET", "/open",
         [base](Call& call) {
           Content content = base();
           content.open = [](std::uint64_t offset) -> std::expected<ReadPart, Failure> {
             return
                 [rest = letters.substr(offset)](std::span<char> space) mutable -> std::expected<std::size_t, Error> {
                   const std::size_t size = std::min<std::size_t>({space.size(), rest.size(), 5});
                   std::memcpy(space.data(), rest.data(), size);
                   rest.remove_prefix(size);
                   return size;
                 };
           };
           return send_content(call, content);
         }},
        {"GET",
         "/bytes",
         [base](Call& call) {
           Content content = base();
           content.bytes = letters;
           return send_content(call, content);
         },
         {.on_io_thread = true}},
        {"GET", "/missing",
         [base](Call& call) {
           Content content = base();
           content.open = [](std::uint64_t) -> std::expected<ReadPart, Failure> {
             return std::unexpected(Failure{502, "the store is away"});
           };
           return send_content(call, content);
         }},
        {"GET", "/short",
         [base](Call& call) {
           Content content = base();
           content.open = [](std::uint64_t) -> std::expected<ReadPart, Failure> {
             return [](std::span<char>) -> std::expected<std::size_t, Error> { return 0; };
           };
           return send_content(call, content);
         }},
        {"GET", "/empty",
         [this](Call& call) {
           Content content;
           content.fd = fd_;
           return send_content(call, content);
         }},
    });
  }
  ~SendContent() override { ::close(fd_); }

  int fd_ = -1;
  std::unique_ptr<App> app_;
};

TEST_F(SendContent, SendsTheWholeAndItsParts) {
  const struct {
    std::string_view range;
    int status;
    std::string_view body, content_range;
  } cases[] = {
      {"", 200, letters, ""},
      {"Range: bytes=0-0\r\n", 206, "a", "bytes 0-0/26"},
      {"Range: bytes=23-\r\n", 206, "xyz", "bytes 23-25/26"},
      {"Range: bytes=-2\r\n", 206, "yz", "bytes 24-25/26"},
      {"Range: bytes=0-100\r\n", 206, letters, "bytes 0-25/26"},
      {"Range: bytes=5-4\r\n", 200, letters, ""},
      {"Range: bytes=0-1\r\nIf-Range: \"v1\"\r\n", 206, "ab", "bytes 0-1/26"},
      {"Range: bytes=0-1\r\nIf-Range: \"v2\"\r\n", 200, letters, ""},
  };
  for (const std::string path : {"/fd", "/open", "/bytes"}) {
    for (const auto& each : cases) {
      const auto reply = ask(*app_, "GET " + path, {}, each.range);
      EXPECT_EQ(reply.status, each.status) << path << each.range;
      EXPECT_EQ(reply.body, each.body) << path << each.range;
      EXPECT_EQ(reply.header("Content-Range"), each.content_range);
      EXPECT_EQ(reply.header("Content-Length"), std::to_string(each.body.size()));
      EXPECT_EQ(reply.header("ETag"), "\"v1\"");
      EXPECT_EQ(reply.header("Accept-Ranges"), "bytes");
      EXPECT_EQ(reply.header("X-Repo-Commit"), "c0ffee");
      EXPECT_EQ(reply.header("Last-Modified"), "Sun, 06 Nov 1994 08:49:37 GMT");
    }
  }
}

TEST_F(SendContent, SendsSeveralRangesAsOneBody) {
  for (const std::string path : {"/fd", "/open", "/bytes"}) {
    const auto reply = ask(*app_, "GET " + path, {}, "Range: bytes=0-1,-1\r\n");
    EXPECT_EQ(reply.status, 206);
    const std::string type = reply.header("Content-Type");
    ASSERT_THAT(type, testing::StartsWith("multipart/byteranges; boundary="));
    const std::string boundary = type.substr(type.find('=') + 1);
    EXPECT_EQ(reply.body, "--" + boundary +
                              "\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/26\r\n\r\nab\r\n--" + boundary +
                              "\r\nContent-Type: text/plain\r\nContent-Range: bytes 25-25/26\r\n\r\nz\r\n--" +
                              boundary + "--\r\n")
        << path;
    EXPECT_EQ(reply.header("Content-Length"), std::to_string(reply.body.size()));
  }
}

TEST_F(SendContent, AnswersConditionsHeadAndRangesThatAreNotThere) {
  for (const std::string path : {"/fd", "/open", "/bytes", "/missing"}) {
    const auto head = ask(*app_, "HEAD " + path, {}, "Range: bytes=0-0\r\n");
    EXPECT_EQ(head.status, 200) << path;
    EXPECT_EQ(head.header("Content-Length"), "26");
    EXPECT_EQ(head.body, "");
    const auto same = ask(*app_, "GET " + path, {}, "If-None-Match: W/\"v1\"\r\n");
    EXPECT_EQ(same.status, 304) << path;
    EXPECT_EQ(same.header("ETag"), "\"v1\"");
    EXPECT_EQ(same.header("X-Repo-Commit"), "c0ffee");
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(ask(*app_, "GET " + path, {}, "If-Match: \"v2\"\r\n").status, 412);
    const auto beyond = ask(*app_, "GET " + path, {}, "Range: bytes=26-\r\n");
    EXPECT_EQ(beyond.status, 416) << path;
    EXPECT_EQ(beyond.header("Content-Range"), "bytes */26");
    EXPECT_EQ(beyond.header("X-Repo-Commit"), "c0ffee");
  }
  const auto empty = ask(*app_, "GET /empty", {}, "Range: bytes=0-0\r\n");
  EXPECT_EQ(empty.status, 200);
  EXPECT_EQ(empty.header("Content-Length"), "0");
}

TEST_F(SendContent, FailsBeforeTheHeadOrCutsAfterIt) {
  const auto missing = ask(*app_, "GET /missing");
  EXPECT_EQ(missing.status, 502);
  EXPECT_THAT(missing.body, HasSubstr("the store is away"));
  const auto cut = ask(*app_, "GET /short");
  EXPECT_EQ(cut.body.find("abcdefgh"), std::string::npos);  // "abc" alone may stand in a random request id
  EXPECT_NE(cut.body.size(), letters.size()) << "a part must not look like the whole";
}

TEST(ContentDisposition, NamesAFileWhateverItsBytes) {
  EXPECT_EQ(content_disposition("attachment", "a b.txt"), "attachment; filename=\"a b.txt\"");
  EXPECT_EQ(content_disposition("inline", "na\xc3\xafve\".txt"),
            "inline; filename=\"na__ve_.txt\"; filename*=UTF-8''na%C3%AFve%22.txt");
  EXPECT_EQ(content_disposition("attachment", "a\r\nX: y"),
            "attachment; filename=\"a__X: y\"; filename*=UTF-8''a%0D%0AX%3A%20y");
}

}  // namespace
}  // namespace stackgate::web
