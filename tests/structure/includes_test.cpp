#include "tests/structure/includes.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/paths.hpp"

namespace stackgate::structure {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

const fs::path top = test::source_dir();

Tree project() {
  Tree tree;
  for (const char* folder :
       {"services", "crds", "validators", "certs", "cluster_state", "webhook", "reconcile", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      const auto kind = entry.path().extension();
      if (kind != ".cpp" && kind != ".hpp") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      tree[fs::relative(entry.path(), top).string()] = text.str();
    }
  }
  return tree;
}

std::string header(const std::string& includes) { return "#pragma once\n" + includes; }

TEST(Includes, of_the_project_follow_the_arrows_of_its_readme) {
  const Tree tree = project();
  ASSERT_GT(tree.size(), 20U) << "the sources were not found below " << top;
  for (const std::string& violation : violations(tree)) ADD_FAILURE() << violation;
}

TEST(Includes, follow_every_arrow_somewhere) { EXPECT_THAT(unused_arrows(project()), IsEmpty()); }

TEST(Includes, that_are_missing_leave_their_arrows_unused) {
  const Tree tree = {{"certs/a.cpp", "#include \"services/kit/kube/client.hpp\"\n"}};
  const auto unused = unused_arrows(tree);
  EXPECT_THAT(unused, ::testing::Contains("certs may include services/kit/log and does not"));
  EXPECT_THAT(unused, ::testing::Not(::testing::Contains("certs may include services/kit/kube and does not")));
}

TEST(Includes, are_read_from_lines_that_start_with_a_hash) {
  const auto found = includes_of(
      "// #include \"a.hpp\"\n#include <b>\n  #  include \"c/d.hpp\" // why\nx(\"#include <e>\");\n#include");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].path, "b");
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[1].path, "c/d.hpp");
}

struct Planted {
  const char* name;
  const char* file;
  const char* include;
  const char* expected;  // empty: allowed
};

class PlantedInclude : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedInclude, is_judged) {
  const auto& [name, file, include, expected] = GetParam();
  const auto found = violations({{file, header(std::string("#include ") + include + "\n")}});
  if (*expected == '\0') {
    EXPECT_THAT(found, IsEmpty());
  } else {
    EXPECT_THAT(found, ElementsAre(HasSubstr(expected))) << file << " " << include;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedInclude,
    ::testing::Values(
        Planted{"base_is_the_bottom", "services/kit/base/a.hpp", "\"services/kit/json/value.hpp\"",
                "services/kit/base may not include services/kit/json"},
        Planted{"json_may_use_base", "services/kit/json/a.hpp", "\"services/kit/base/error.hpp\"", ""},
        Planted{"validators_know_no_http", "validators/rules/a.cpp", "\"services/kit/http/message.hpp\"",
                "validators/rules/a.cpp:2: includes services/kit/http/message.hpp: validators may not include "
                "services/kit/http"},
        Planted{"validators_know_no_yaml", "validators/a.cpp", "\"services/kit/yaml/parse.hpp\"",
                "may not include services/kit/yaml"},
        Planted{"validators_know_no_webhook", "validators/a.cpp", "\"webhook/gate.hpp\"", "may not include webhook"},
        Planted{"validators_read_no_files", "validators/rules/a.cpp", "<fstream>", "pure"},
        Planted{"generators_read_files", "validators/pages/generate_rule_pages.cpp", "<fstream>", ""},
        Planted{"grammar_is_below_findings", "services/kit/grammar/a.cpp", "\"services/kit/findings/finding.hpp\"",
                "services/kit/grammar may not include services/kit/findings"},
        Planted{"settings_know_no_rule_book", "services/kit/settings/a.cpp", "\"validators/rulebook.hpp\"",
                "services/kit/settings may not include validators"},
        Planted{"web_knows_no_rule_book", "services/kit/web/a.cpp", "\"validators/structure.hpp\"",
                "services/kit/web may not include validators"},
        Planted{"rules_know_no_book", "validators/rules/a.cpp", "\"validators/structure.hpp\"",
                "knows nothing of the book"},
        Planted{"webhook_may_use_validators", "webhook/a.cpp", "\"validators/rulebook.hpp\"", ""},
        Planted{"webhook_knows_no_command", "webhook/a.cpp", "\"services/stackgate/main.hpp\"",
                "may not include services/stackgate"},
        Planted{"plans_know_no_store", "reconcile/plan/a.cpp", "\"reconcile/observe/store.hpp\"",
                "reconcile/plan may not include reconcile/observe"},
        Planted{"plans_know_no_client", "reconcile/plan/a.cpp", "\"services/kit/kube/client.hpp\"",
                "may not include services/kit/kube"},
        Planted{"plans_name_the_types_of_children", "reconcile/plan/a.cpp", "\"reconcile/child_types.hpp\"", ""},
        Planted{"states_know_no_plan", "reconcile/status/a.cpp", "\"reconcile/plan/plan.hpp\"",
                "may not include reconcile/plan"},
        Planted{"plans_start_no_threads", "reconcile/plan/a.cpp", "<thread>", "pure"},
        Planted{"reconcile_knows_no_webhook", "reconcile/a.cpp", "\"webhook/gate.hpp\"", "may not include webhook"},
        Planted{"services_do_not_include_each_other", "services/datastore/a.cpp", "\"services/entitystore/b.hpp\"",
                "speak HTTP"},
        Planted{"a_service_may_use_itself", "services/datastore/a.cpp", "\"services/datastore/b.hpp\"", ""},
        Planted{"asio_behind_one_file", "webhook/server.cpp", "<boost/asio.hpp>", "Asio"},
        Planted{"asio_in_its_file", "services/kit/http/loop.cpp", "<boost/asio.hpp>", ""},
        Planted{"valijson_behind_one_folder", "services/kit/schema/a.cpp", "<valijson/schema.hpp>", "23 s"},
        Planted{"nlohmann_behind_one_folder", "services/kit/json/a.cpp", "<nlohmann/json.hpp>", "project's JSON"},
        Planted{"yaml_cpp_behind_one_file", "services/kit/yaml/a.cpp", "<yaml-cpp/yaml.h>", "project's YAML"},
        Planted{"libyaml_behind_one_folder", "services/stackgate/a.cpp", "<yaml.h>", "project's YAML"},
        Planted{"curl_behind_one_folder", "services/kit/kube/client.cpp", "<curl/curl.h>", "one file"},
        Planted{"spdlog_behind_one_folder", "services/kit/run/a.cpp", "<spdlog/spdlog.h>", "process log"},
        Planted{"tests_may_use_an_oracle", "tests/kit/yaml/a_test.cpp", "<yaml-cpp/yaml.h>", ""},
        Planted{"paths_from_the_top", "webhook/a.cpp", "\"../certs/b.hpp\"", "from the repository's top"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Includes, name_a_ring_of_folders) {
  const Tree tree = {{"webhook/a.hpp", header("#include \"certs/b.hpp\"\n")},
                     {"certs/b.hpp", header("#include \"webhook/a.hpp\"\n")}};
  EXPECT_EQ(folder_cycle(tree), "certs → webhook → certs");
  EXPECT_THAT(violations(tree), ::testing::Contains(HasSubstr("include each other")));
}

TEST(Includes, want_pragma_once_in_headers) {
  EXPECT_THAT(violations({{"webhook/a.hpp", "int a;\n"}}), ElementsAre(HasSubstr("#pragma once")));
}

TEST(Includes, leave_the_clock_to_impure_modules) {
  const std::string text = "auto t = std::chrono::system_clock::now();\n";
  EXPECT_THAT(violations({{"validators/rules/a.cpp", text}}), ElementsAre(HasSubstr("system_clock in a pure module")));
  EXPECT_THAT(violations({{"webhook/a.cpp", text}}), IsEmpty());
}

// Not a verdict: figures for whoever reviews.
TEST(Sources, are_small) {
  std::vector<std::pair<long, std::string>> sizes;
  for (const auto& [file, text] : project()) sizes.emplace_back(std::ranges::count(text, '\n'), file);
  std::ranges::sort(sizes);
  ASSERT_FALSE(sizes.empty());
  std::cout << "files: " << sizes.size() << ", median: " << sizes[sizes.size() / 2].first << " lines\n";
  for (const auto& [lines, file] : sizes)
    if (lines > 400) std::cout << "over 400 lines: " << lines << " " << file << "\n";
}

}  // namespace
}  // namespace stackgate::structure
