#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/inference/adapters/source.hpp"
#include "tests/inference/adapters/store/small_adapter.hpp"

namespace stackgate::inference {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// A directory of three adapters, listed while somebody moves it.
class MovedDirectory : public ::testing::Test {
 protected:
  MovedDirectory() {
    for (const char* name : {"here/a", "here/b", "here/c"}) test::write_small_adapter(space, name);
  }
  /// `at`: what happens before the nth folder is looked at, counted from 0.
  auto listed(const std::function<void(int)>& at) {
    int folder = 0;
    const auto source = make_folder_source(space / "here", [&] { at(folder++); });
    auto out = source->list({});
    EXPECT_EQ(folder, 3) << "what was opened is read to its end";
    return out;
  }
  static std::vector<std::string> names(const AdapterList& list) {
    std::vector<std::string> out;
    for (const AdapterRecord& each : list.records) out.push_back(each.name + " of " + each.base_model);
    std::ranges::sort(out);
    return out;
  }
  void away() { fs::rename(space / "here", space / "there"); }
  void back() { fs::rename(space / "there", space / "here"); }

  stackgate::test::TempDir space;
};

TEST_F(MovedDirectory, that_stays_away_is_no_empty_one) {
  for (const int when : {0, 1, 2}) {
    const auto list = listed([&](int folder) {
      if (folder == when) away();
    });
    ASSERT_FALSE(list) << when;
    EXPECT_THAT(list.error(), ::testing::EndsWith("changed, or failed, while it was read"));
    back();
  }
}

TEST_F(MovedDirectory, whose_name_another_one_has_is_not_taken_for_it) {
  fs::create_directories(space / "empty");
  const auto list = listed([&](int folder) {
    if (folder != 1) return;
    away();
    fs::rename(space / "empty", space / "here");
  });
  EXPECT_FALSE(list);
}

TEST_F(MovedDirectory, that_comes_back_is_read_whole) {
  struct Moves {
    int leaves, returns;
  };
  for (const Moves& at : {Moves{0, 1}, Moves{0, 2}, Moves{1, 2}}) {
    const auto list = listed([&](int folder) {
      if (folder == at.leaves) away();
      if (folder == at.returns) back();
    });
    ASSERT_TRUE(list) << list.error();
    EXPECT_THAT(names(**list), ElementsAre("a of small", "b of small", "c of small"))
        << at.leaves << " to " << at.returns;
  }
}

}  // namespace
}  // namespace stackgate::inference
