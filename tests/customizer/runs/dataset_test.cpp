#include "services/customizer/runs/dataset.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/customizer/runs/adapter_state.hpp"

namespace stackgate::customizer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

validate::Findings check(std::string_view text, std::uint64_t number = 1) {
  validate::Findings out;
  std::optional<std::string> kind;
  check_lines(text, "a.jsonl", number, kind, out);
  return out;
}

TEST(DatasetLines, are_those_that_the_trainer_reads) {
  EXPECT_THAT(check("{\"prompt\":\"a\",\"completion\":\"b\"}\n\n{\"prompt\":\"a\",\"completion\":\"c\"}"), IsEmpty());
  const auto wrong = check("{\"prompt\":\"a\",\"completion\":\"b\"}\n\n{\"prompt\":\"a\"}\n[]\n");
  ASSERT_THAT(wrong, SizeIs(2));
  EXPECT_THAT(wrong[0].problem, HasSubstr("a.jsonl:3: lacks \"completion\"")) << "an empty line is counted, too";
  EXPECT_THAT(wrong[1].problem, HasSubstr("a.jsonl:4:"));
  EXPECT_EQ(wrong[0].path, "dataset");
  EXPECT_THAT(check("{}\n", 0).at(0).problem, HasSubstr("a line near the end of a.jsonl"));
}

TEST(DatasetLines, are_of_one_kind) {
  const auto wrong = check(
      "{\"prompt\":\"a\",\"completion\":\"b\"}\n"
      "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":\"y\"}]}\n");
  ASSERT_THAT(wrong, SizeIs(1));
  EXPECT_THAT(wrong[0].problem, HasSubstr("a.jsonl:2: has messages, and lines before it have prompt and completion"));
}

TEST(AdapterStateOf, is_that_of_the_version) {
  const OutputModel adapter{.name_space = "ada", .name = "x", .version = "1.0.0"};
  const auto state = [&](std::string_view rows) {
    return read_adapter_state(fmt::format(R"({{"adapters":[{}]}})", rows), adapter);
  };
  EXPECT_EQ(state(R"({"name":"x","version":"2.0.0","status":"ready"})"), AdapterState::unknown);
  EXPECT_EQ(
      state(R"({"name":"x","version":"2.0.0","status":"ready"},{"name":"x","version":"1.0.0","status":"pending"})"),
      AdapterState::pending);
  EXPECT_EQ(state(R"({"name":"x","version":"1.0.0","status":"failed"})"), AdapterState::failed);
  EXPECT_FALSE(read_adapter_state("[]", adapter));
}

}  // namespace
}  // namespace stackgate::customizer
