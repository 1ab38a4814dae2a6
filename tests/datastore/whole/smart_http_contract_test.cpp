// The contract of Git's smart HTTP: what a git client is sent; its failures are the words that git shows to its user.
#include "tests/datastore/whole/contract_support.hpp"

namespace stackgate::datastore::whole_test {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view text = "Content-Type: text/plain; charset=utf-8",
                           uncached = "Cache-Control: no-cache, max-age=0, must-revalidate";
constexpr std::string_view fetches = "Content-Type: application/x-git-upload-pack-request\r\n",
                           fetches_v2 =
                               "Content-Type: application/x-git-upload-pack-request\r\nGit-Protocol: version=2\r\n",
                           pushes = "Content-Type: application/x-git-receive-pack-request\r\n";

class SmartHttpContract : public Contract {};

TEST_F(SmartHttpContract, ofReferences) {
  const Row rows[] = {
      {.request = "GET /ann/whole.git/info/refs?service=git-upload-pack",
       .with = {"Content-Type: application/x-git-upload-pack-advertisement", uncached, "Pragma: no-cache",
                "Expires: Fri, 01 Jan 1980 00:00:00 GMT"},
       .body = {"001e# service=git-upload-pack\n0000", "$head HEAD", "$first refs/heads/feature/x",
                "symref=HEAD:refs/heads/main"}},
      {.request = "GET /ann/whole/info/refs?service=git-upload-pack", .body = {"$head refs/heads/main"}},
      {.request = "GET /ann/whole.git/info/refs?service=git-upload-pack",
       .headers = "Git-Protocol: version=2\r\n",
       .body = {"000eversion 2\n", "ls-refs", "!$head"}},
      {.request = "GET /ann/empty.git/info/refs?service=git-upload-pack",
       .body = {"=001e# service=git-upload-pack\n00000000"}},
      {.as = As::ann,
       .request = "GET /ann/whole.git/info/refs?service=git-receive-pack",
       .with = {"Content-Type: application/x-git-receive-pack-advertisement", uncached},
       .body = {"001f# service=git-receive-pack\n0000", "$head refs/heads/main", "report-status"}},
      {.request = "GET /ann/whole.git/info/refs?service=git-receive-pack",
       .status = 401,
       .with = {text, "WWW-Authenticate: Basic realm=\"stackgate\", charset=\"UTF-8\""},
       .body = {"sign in to write"}},
      {.as = As::wrong, .request = "GET /ann/whole.git/info/refs?service=git-upload-pack", .status = 401},
      {.as = As::bob,
       .request = "GET /ann/whole.git/info/refs?service=git-receive-pack",
       .status = 403,
       .with = {text},
       .body = {"you may read this repository but not change it"}},
      {.as = As::reader,
       .request = "GET /ann/whole.git/info/refs?service=git-receive-pack",
       .status = 403,
       .body = {"this token is read-only"}},
      {.request = "GET /ann/secret.git/info/refs?service=git-upload-pack",
       .status = 401,
       .body = {"or it is not for everybody"}},
      {.as = As::bob,
       .request = "GET /ann/secret.git/info/refs?service=git-upload-pack",
       .status = 404,
       .body = {"or it is not yours to see"}},
      {.as = As::reader, .request = "GET /ann/secret.git/info/refs?service=git-upload-pack"},
      {.request = "GET /ann/damaged.git/info/refs?service=git-upload-pack",
       .status = 500,
       .with = {text},
       .body = {"the repository cannot be read"}},
      {.request = "GET /ann/whole.git/info/refs",
       .status = 403,
       .with = {text},
       .body = {"this server speaks Git's smart HTTP only"}},
      {.request = "GET /ann/whole.git/info/refs?service=git-upload-archive",
       .status = 403,
       .body = {"the service \"git-upload-archive\" is not offered"}},
      {.request = "GET /ann/whole.git/HEAD", .status = 403, .body = {"this server speaks Git's smart HTTP only"}},
      {.request = "GET /whole.git/info/refs?service=git-upload-pack",
       .status = 404,
       .with = {text},
       .body = {"an address here has an owner and a name"}},
  };
  holds(rows);
}

TEST_F(SmartHttpContract, ofFetches) {
  const Row rows[] = {
      {.request = "POST /ann/whole.git/git-upload-pack",
       .send = "0014command=ls-refs\n00010000",
       .headers = fetches_v2,
       .with = {"Content-Type: application/x-git-upload-pack-result", uncached},
       .body = {"$head HEAD\n", "$first refs/heads/feature/x\n"}},
      {.request = "POST /ann/whole.git/git-upload-pack",
       .send = "0011command=fetch0001000fno-progress0032want $head\n0009done\n0000",
       .headers = fetches_v2,
       .with = {uncached},
       .body = {"000dpackfile\n", "PACK"}},
      {.request = "POST /ann/whole.git/git-upload-pack",
       .send = "0032want $head\n00000009done\n",
       .headers = fetches,
       .with = {"Content-Type: application/x-git-upload-pack-result"},
       .body = {"0008NAK\n", "PACK"}},
      {.request = "POST /ann/whole.git/git-upload-pack",
       .send = "0032want 0000000000000000000000000000000000000001\n00000009done\n",
       .headers = fetches,
       .body = {"not our ref"}},
      {.request = "POST /ann/whole.git/git-upload-pack",
       .send = "0000",
       .status = 415,
       .with = {text},
       .body = {"the Content-Type must be application/x-git-upload-pack-request"}},
      {.request = "POST /ann/secret.git/git-upload-pack", .send = "0000", .headers = fetches, .status = 401},
      {.request = "POST /whole.git/git-upload-pack",
       .send = "0000",
       .headers = fetches,
       .status = 404,
       .body = {"an address here has an owner and a name"}},
  };
  holds(rows);
}

TEST_F(SmartHttpContract, ofPushes) {
  constexpr std::string_view removal =
      "0079$first 0000000000000000000000000000000000000000 refs/heads/feature/x\0 report-status0000"sv;
  const Row rows[] = {
      {.as = As::ann,
       .request = "POST /ann/whole.git/git-receive-pack",
       .send = "0000",
       .headers = pushes,
       .with = {"Content-Type: application/x-git-receive-pack-result", uncached},
       .body = {"="}},
      {.as = As::ann,
       .request = "POST /ann/whole.git/git-receive-pack",
       .send = "hello",
       .headers = pushes,
       .status = 400,
       .with = {text},
       .body = {"the body is not a push"}},
      {.as = As::ann, .request = "POST /ann/whole.git/git-receive-pack", .send = "0000", .status = 415},
      {.request = "POST /ann/whole.git/git-receive-pack", .send = "0000", .headers = pushes, .status = 401},
      {.as = As::bob,
       .request = "POST /ann/whole.git/git-receive-pack",
       .send = "0000",
       .headers = pushes,
       .status = 403},
      {.as = As::ann,
       .request = "POST /ann/whole.git/git-receive-pack",
       .send = removal,
       .headers = pushes,
       .with = {uncached},
       .body = {"000eunpack ok\n", "ok refs/heads/feature/x\n"}},
      {.request = "GET /ann/whole.git/info/refs?service=git-upload-pack", .body = {"!feature/x"}},
  };
  holds(rows);
}

}  // namespace
}  // namespace stackgate::datastore::whole_test
