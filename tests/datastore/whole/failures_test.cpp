// What is below every API fails: the same status whichever way a request came, in its API's own shape.
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <sys/mount.h>

#include "services/kit/files/file.hpp"
#include "services/kit/sql/database.hpp"
#include "tests/datastore/whole/contract_support.hpp"

namespace stackgate::datastore::whole_test {
namespace {

constexpr std::string_view lfs_json = "Content-Type: application/vnd.git-lfs+json\r\n",
                           lines_type = "Content-Type: application/x-ndjson\r\n";
constexpr std::string_view one_file =
    "{\"key\":\"header\",\"value\":{\"summary\":\"s\"}}\n"
    "{\"key\":\"file\",\"value\":{\"path\":\"n\",\"content\":\"bg==\",\"encoding\":\"base64\"}}\n";

class Failing : public Contract {
 protected:
  /// A form of the pages needs a token that belongs to a cookie; both of ann's visit.
  void visit() {
    const auto form = as(basic("ann", password), "GET /-/new");
    const auto after = [](std::string_view text, std::string_view mark, char end) {
      const auto at = text.find(mark);
      return at == std::string_view::npos
                 ? ""
                 : std::string(text.substr(at + mark.size()).substr(0, text.substr(at + mark.size()).find(end)));
    };
    token_ = after(form.body, "name=\"token\" value=\"", '"');
    cookie_ = "Cookie: " + after(form.head, "Set-Cookie: ", ';') + "\r\n";
  }
  std::string token_, cookie_;
};

class BrokenDatabase : public Failing {};

TEST_F(BrokenDatabase, is500OnEveryPath) {
  auto database = sql::Database::open("sqlite:" + data() + "/datastore.db", "");
  ASSERT_TRUE(database);
  ASSERT_TRUE((*database)->run("ALTER TABLE repositories RENAME TO lost"));
  constexpr std::string_view why = "he database refused the operation";  // a page begins its sentence with a capital
  const Row rows[] = {
      {.as = As::ann,
       .request = "GET /api/v1/repos/ann/whole",
       .status = 500,
       .body = {R"({"message":"the database)", why}},
      {.as = As::ann, .request = "GET /api/v1/repos/search", .status = 500, .body = {why}},
      {.as = As::ann, .request = "POST /api/v1/user/repos", .send = R"({"name":"x"})", .status = 500, .body = {why}},
      {.as = As::ann,
       .request = "GET /v1/hf/api/models/ann/whole",
       .status = 500,
       .body = {R"({"error":"the database)", why}},
      {.as = As::ann, .request = "GET /v1/hf/api/models", .status = 500, .body = {why}},
      {.as = As::ann,
       .request = "POST /v1/hf/api/repos/create",
       .send = R"({"name":"x","type":"model"})",
       .status = 500,
       .body = {why}},
      {.as = As::ann,
       .request = "POST /v1/hf/api/models/ann/whole/commit/main",
       .send = one_file,
       .headers = lines_type,
       .status = 500,
       .body = {why}},
      {.as = As::ann,
       .request = "POST /ann/whole.git/info/lfs/objects/batch",
       .send = R"({"operation":"download","objects":[]})",
       .headers = lfs_json,
       .status = 500,
       .body = {R"({"message":"the database)", why}},
      {.as = As::ann, .request = "GET /ann/whole.git/info/lfs/locks", .status = 500, .body = {why}},
      {.as = As::ann,
       .request = "GET /ann/whole.git/info/refs?service=git-upload-pack",
       .status = 500,
       .with = {"Content-Type: text/plain; charset=utf-8"},
       .body = {why}},
      {.as = As::ann,
       .request = "POST /ann/whole.git/git-receive-pack",
       .send = "0000",
       .headers = "Content-Type: application/x-git-receive-pack-request\r\n",
       .status = 500,
       .body = {why}},
      {.as = As::ann,
       .request = "GET /",
       .status = 500,
       .with = {"Content-Type: text/html; charset=utf-8"},
       .body = {why}},
      {.as = As::ann, .request = "GET /ann/whole", .status = 500, .body = {why}},
      {.as = As::ann, .request = "GET /ann/whole/raw/main/README.md", .status = 500, .body = {why}},
  };
  holds(rows);
}

class LockedDatabase : public Failing {};

TEST_F(LockedDatabase, is503WithAPauseWhereverItIsWritten) {
  auto database = sql::Database::open("sqlite:" + data() + "/datastore.db", "");
  ASSERT_TRUE(database);
  visit();
  const std::string form = "owner=ann&name=x&token=" + token_;
  const std::string form_headers = cookie_ + std::string(form_type);
  const auto held = (*database)->transact([&](sql::Session& session) -> sql::Expected<void> {
    if (auto locked = session.run("UPDATE repositories SET size = size"); !locked)
      return std::unexpected(locked.error());
    constexpr std::string_view why = "he database is away; try again shortly", pause = "Retry-After: 5";
    const Row rows[] = {
        {.as = As::ann,
         .request = "POST /api/v1/user/repos",
         .send = R"({"name":"x"})",
         .status = 503,
         .with = {pause},
         .body = {why}},
        {.as = As::ann,
         .request = "PUT /v1/hf/api/models/ann/whole/settings",
         .send = R"({"private":true})",
         .status = 503,
         .with = {pause},
         .body = {why}},
        {.as = As::ann,
         .request = "POST /ann/whole.git/info/lfs/locks",
         .send = R"({"path":"a"})",
         .headers = lfs_json,
         .status = 503,
         .with = {pause},
         .body = {why}},
        {.as = As::ann, .request = "POST /-/new", .send = form, .headers = form_headers, .status = 503, .body = {why}},
    };
    // Each waits its five seconds for the lock, and all of them at once.
    std::vector<std::jthread> asking;
    for (const Row& row : rows) asking.emplace_back([this, &row] { holds({&row, 1}); });
    return {};
  });
  EXPECT_TRUE(held);
}

/// Its data directory is a file system of its own, which is filled up.
class FullDisk : public Failing {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(data());
    if (::mount("none", data().c_str(), "tmpfs", 0, "size=32m") != 0) GTEST_SKIP() << "mounting a tmpfs needs root";
    mounted_ = true;
    Failing::SetUp();
    visit();
    std::ofstream filler(data() + "/filler");
    for (const std::string block(4096, 'x'); filler.write(block.data(), 4096).flush();) continue;
  }
  void TearDown() override {
    if (!mounted_) return;
    Failing::TearDown();
    EXPECT_EQ(::umount2(data().c_str(), MNT_DETACH), 0);
  }
  /// What git prints; empty when it was let in.
  std::string failed_push() const {
    const test::TempDir clone;
    const std::string out = clone / "out";
    const std::string push = fmt::format(
        "cd {} && export GIT_CONFIG_GLOBAL=/dev/null && git init -q -b main . && git -c user.name=A -c user.email=a@b "
        "commit -q --allow-empty -m c && git push -f http://ann:{}@127.0.0.1:{}/ann/whole.git main >{} 2>&1",
        clone / "", password, app_->port(), out);
    if (std::system(push.c_str()) == 0) return "";
    return files::read_file(out, 1U << 16U).value_or("");
  }
  bool mounted_ = false;
};

TEST_F(FullDisk, is507OnEveryPath) {
  constexpr std::string_view why = "no space is left";
  const std::string form = "owner=ann&name=x&readme=1&token=" + token_;
  const std::string form_headers = cookie_ + std::string(form_type);
  const std::string upload =
      "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n" + token_ +
      "\r\n--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"n\"\r\n\r\nn\r\n--b--\r\n";
  const std::string upload_headers = cookie_ + "Content-Type: multipart/form-data; boundary=b\r\n";
  const Row rows[] = {
      {.as = As::ann, .request = "POST /api/v1/user/repos", .send = R"({"name":"x"})", .status = 507, .body = {why}},
      {.as = As::ann,
       .request = "POST /api/v1/repos/ann/whole/branches",
       .send = R"({"new_branch_name":"b"})",
       .status = 507,
       .body = {why}},
      {.as = As::ann,
       .request = "POST /api/v1/repos/ann/whole/tags",
       .send = R"({"tag_name":"t","message":"m"})",
       .status = 507,
       .body = {why}},
      {.as = As::ann,
       .request = "POST /v1/hf/api/repos/create",
       .send = R"({"name":"x","type":"model"})",
       .status = 507,
       .body = {why}},
      {.as = As::ann, .request = "POST /v1/hf/api/models/ann/whole/branch/b", .status = 507, .body = {why}},
      {.as = As::ann,
       .request = "POST /v1/hf/api/models/ann/whole/commit/main",
       .send = one_file,
       .headers = lines_type,
       .status = 507,
       .body = {why}},
      {.as = As::ann,
       .request =
           "PUT /ann/whole.git/info/lfs/objects/ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
       .send = "a",
       .headers = "Content-Type: application/octet-stream\r\n",
       .status = 507,
       .body = {why}},
      {.as = As::ann, .request = "POST /-/new", .send = form, .headers = form_headers, .status = 507, .body = {why}},
      {.as = As::ann,
       .request = "POST /ann/whole/upload/main",
       .send = upload,
       .headers = upload_headers,
       .status = 507,
       .body = {why}},
      {.request = "GET /ann/whole/raw/main/README.md", .body = {"=# whole, changed\n"}},
  };
  holds(rows);
  EXPECT_THAT(failed_push(), testing::HasSubstr("No space left on device"));
  std::filesystem::remove(data() + "/filler");
  const Row with_room[] = {
      {.as = As::ann,
       .request = "POST /ann/whole/upload/main",
       .send = upload,
       .headers = upload_headers,
       .status = 303},
      {.as = As::ann, .request = "POST /-/new", .send = form, .headers = form_headers, .status = 303},
  };
  holds(with_room);
}

}  // namespace
}  // namespace stackgate::datastore::whole_test
