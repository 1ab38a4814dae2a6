#include "services/datastore/gitea/shapes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::datastore::gitea {
namespace {

using testing::HasSubstr;
using testing::Not;

template <typename Write>
std::string written(const Identity& viewer, Write&& write) {
  std::string out;
  json::Writer writer(out);
  write(Shape{writer, "https://host", viewer});
  json::Document document;
  EXPECT_TRUE(json::parse(out, document)) << out;
  return out;
}

const Repository some_repository{.id = 7,
                                 .owner_id = 1,
                                 .owner = "ann",
                                 .name = "x",
                                 .description = "a \"b\"",
                                 .is_private = false,
                                 .size = 3 * 1024,
                                 .created_at = "2026-01-01T00:00:00Z",
                                 .updated_at = "2026-01-02T00:00:00Z"};
const Account ann{.id = 1, .name = "ann", .email = "ann@example.com"};

TEST(GiteaShapes, TimesOfCommitsHaveTheAuthorsOffset) {
  EXPECT_EQ(time_of({.seconds = 0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time_of({.seconds = 0, .offset_minutes = 90}), "1970-01-01T01:30:00+01:30");
  EXPECT_EQ(time_of({.seconds = 86'400, .offset_minutes = -330}), "1970-01-01T18:30:00-05:30");
}

TEST(GiteaShapes, ModesAreGits) {
  using enum git::EntryKind;
  EXPECT_EQ(mode_of(file), "100644");
  EXPECT_EQ(mode_of(executable), "100755");
  EXPECT_EQ(mode_of(symlink), "120000");
  EXPECT_EQ(mode_of(folder), "040000");
  EXPECT_EQ(mode_of(submodule), "160000");
}

TEST(GiteaShapes, ARepositoryTellsTheViewersRightsAndWhereToClone) {
  const auto of = [](const Identity& viewer) {
    return written(viewer, [](const Shape& shape) { shape.repository(some_repository, ann, true); });
  };
  EXPECT_THAT(of({}), HasSubstr(R"("permissions":{"admin":false,"push":false,"pull":true})"));
  EXPECT_THAT(of({.account = 1}), HasSubstr(R"("permissions":{"admin":true,"push":true,"pull":true})"));
  EXPECT_THAT(of({.account = 1, .scope = Scope::read}), HasSubstr(R"("push":false)"));
  EXPECT_THAT(of({}), HasSubstr(R"("clone_url":"https://host/ann/x.git")"));
  EXPECT_THAT(of({}), HasSubstr(R"("size":3,)"));
  EXPECT_THAT(of({}), HasSubstr(R"("empty":true)"));
}

TEST(GiteaShapes, AnAddressIsShownToItsOwnerAndAdministratorsOnly) {
  const auto of = [](const Identity& viewer) { return written(viewer, [](const Shape& shape) { shape.user(ann); }); };
  EXPECT_THAT(of({}), Not(HasSubstr("example.com")));
  EXPECT_THAT(of({.account = 2}), Not(HasSubstr("example.com")));
  EXPECT_THAT(of({.account = 1}), HasSubstr("ann@example.com"));
  EXPECT_THAT(of({.account = 3, .admin = true}), HasSubstr("ann@example.com"));
}

TEST(GiteaShapes, PathsAreEscapedInUrlsAndWholeInNames) {
  const git::Entry entry{.path = "a b/#ü%.txt", .oid = std::string(40, '1'), .size = 2};
  const std::string content = "aGk=";
  const std::string out = written({}, [&](const Shape& shape) {
    shape.entry(some_repository, entry, "feature/x", std::string(40, '2'), &content);
  });
  EXPECT_THAT(out, HasSubstr(R"("name":"#ü%.txt")"));
  EXPECT_THAT(out, HasSubstr("/raw/a%20b/%23%C3%BC%25.txt?ref=feature%2Fx"));
  EXPECT_THAT(out, HasSubstr(R"("encoding":"base64","content":"aGk=")"));
}

}  // namespace
}  // namespace stackgate::datastore::gitea
