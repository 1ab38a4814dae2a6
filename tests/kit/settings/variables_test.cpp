#include "services/kit/settings/variables.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include <gmock/gmock.h>

#include "services/kit/settings/names.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::settings {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> told(std::vector<std::string_view> environment) {
  static const Program program{.name = "stackgate-sample",
                               .summary = "",
                               .commands = {},
                               .settings = {{.name = "data-dir", .kind = Kind::directory, .help = ""},
                                            {.name = "listen", .kind = Kind::listen, .help = ""},
                                            {.name = "s3-serve-direct", .kind = Kind::flag, .help = ""},
                                            {.name = "lfs-jwt-secret", .kind = Kind::secret, .help = ""},
                                            {.name = "database-url", .help = ""},
                                            {.name = "admin", .help = "", .variable = "GIT_ADMIN_USERNAME"}}};
  std::vector<std::string> out;
  for (const Misspelt& each : misspelt_variables(program, environment)) out.push_back(each.name + " " + each.meant);
  return out;
}

TEST(MisspeltVariables, are_told_with_what_was_meant) {
  EXPECT_THAT(told({"STACKGATE_LISTN=:1", "STACKGATE_DATA_DRI=/x", "STACKGATE_S3_SERVEDIRECT=false", "PATH=/bin",
                    "STACKGATE_LFS_JWT_SECRET_FIEL=/y"}),
              ElementsAre("STACKGATE_DATA_DRI STACKGATE_DATA_DIR",
                          "STACKGATE_LFS_JWT_SECRET_FIEL STACKGATE_LFS_JWT_SECRET_FILE",
                          "STACKGATE_LISTN STACKGATE_LISTEN", "STACKGATE_S3_SERVEDIRECT STACKGATE_S3_SERVE_DIRECT"));
}

TEST(MisspeltVariables, are_not_those_that_somebody_reads_or_nobody_could_have_meant) {
  EXPECT_THAT(told({"STACKGATE_DATA_DIR=/x", "STACKGATE_LFS_JWT_SECRET=s", "STACKGATE_LFS_JWT_SECRET_FILE=/s",
                    "STACKGATE_DATASTORE_URL=http://d", "STACKGATE_METRICS_LISTEN=:1",
                    "STACKGATE_LISTN=", "STACKGATE_EVALUATION_IMAGE_RAG=r", "STACKGATE_MY_OWN_THING_FOR_SCRIPTS=1"}),
              IsEmpty());
}

TEST(MisspeltVariables, are_not_what_Kubernetes_says_of_Services) {
  // Of Services called stackgate-data, stackgate-dir and stackgate-listen.
  EXPECT_THAT(told({"STACKGATE_LISTEN_SERVICE_HOST=10.0.0.1", "STACKGATE_LISTEN_SERVICE_PORT=8000",
                    "STACKGATE_LISTEN_SERVICE_PORT_HTTP=8000", "STACKGATE_DIR_PORT=tcp://10.0.0.1:8000",
                    "STACKGATE_DATA_PORT_8000_TCP=tcp://10.0.0.1:8000", "STACKGATE_DATA_PORT_8000_TCP_PROTO=tcp",
                    "STACKGATE_DATA_PORT_8000_TCP_PORT=8000", "STACKGATE_DATA_PORT_8000_TCP_ADDR=10.0.0.1"}),
              IsEmpty());
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FamilyVariables, name_what_the_sources_of_all_programs_read) {
  const std::filesystem::path root = test::source_dir();
  std::vector<std::filesystem::path> sources;
  for (const auto& each : std::filesystem::recursive_directory_iterator(root / "reconcile/plan"))
    if (each.path().extension() == ".cpp") sources.push_back(each.path());
  std::size_t seen = 0;
  const auto expect_known = [&](const std::string& name, const std::filesystem::path& source) {
    ++seen;
    EXPECT_TRUE(is_of_family(name)) << name << " of " << source << " is not in variables.cpp";
  };
  const std::regex quoted("\"(STACKGATE_[A-Z0-9_]+)\"");
  const std::regex other_variable(R"re(by_variable\("[A-Z0-9_]+",\s*\w+\("[a-z0-9-]+")re");
  const std::regex row(R"re([^.\w](text|secret|flag|integer|duration|size|url|choice)\("([a-z0-9-]+)")re");
  for (const auto& source : sources) {
    const std::string text = content(source);
    for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at)
      expect_known((*at)[1].str(), source);
  }
  for (const char* source : {"services/datastore/options.cpp", "services/entitystore/program/options.cpp"}) {
    const std::string text = std::regex_replace(content(root / source), other_variable, "");
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
      const std::string name = (*at)[2].str();
      expect_known(variable_of({.name = name, .help = ""}), source);
    }
  }
  EXPECT_GT(seen, 90U);  // and those of stackgate's tables: tests/cli
}

}  // namespace
}  // namespace stackgate::settings
