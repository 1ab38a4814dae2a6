// The example of services/README.md, started as users start it and asked with curl.
#include <string>

#include <gmock/gmock.h>

#include "services/kit/subprocess/process.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::notes {
namespace {

using subprocess::Process;
using testing::HasSubstr;

struct Ran {
  int status;
  std::string output;
};

subprocess::Spec program_of(std::vector<std::string> arguments) {
  return {.arguments = std::move(arguments),
          .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"},
          .errors = subprocess::Errors::with_output};
}

Ran run(std::vector<std::string> arguments) {
  auto process = Process::start(program_of(std::move(arguments)));
  if (!process) return {-1, process.error().message};
  std::string output;
  (*process)->drain([&](std::string_view piece) {
    output += piece;
    return true;
  });
  return {(*process)->wait(), output};
}

class Example : public testing::Test {
 protected:
  const test::TempDir folder_;
  const std::string program_ = (test::binary_dir() / "bin/stackgate-notes").string();

  /// The URL that its log names.
  std::string start(std::unique_ptr<Process>& service) const {
    auto started = Process::start(program_of({program_, "--data-dir", folder_ / "data", "--listen", "127.0.0.1:0",
                                              "--greeting", "hello ", "--log-format", "json"}));
    if (!started) throw std::runtime_error(started.error().message);
    service = std::move(*started);
    std::string log;
    service->drain([&](std::string_view piece) {
      log += piece;
      return !(log.contains("\"url\":\"") && log.ends_with('\n'));
    });
    const auto begin = log.find("\"url\":\"") + 7;
    return log.substr(begin, log.find('"', begin) - begin);
  }
  static Ran curl(const std::string& url, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"curl", "-sS", "-m", "10", "-w", " %{http_code}"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(url);
    return run(std::move(words));
  }
};

TEST_F(Example, keeps_notes_over_a_restart_and_ends_gracefully) {
  std::unique_ptr<Process> service;
  std::string url = start(service);
  EXPECT_EQ(curl(url + "/v1/notes/a", {"-X", "PUT", "--json", R"({"text":"world"})"}).output, " 204");
  EXPECT_EQ(curl(url + "/v1/notes/a").output, "{\"text\":\"hello world\"} 200");
  EXPECT_EQ(service->end(std::chrono::seconds(20)), 0);
  url = start(service);
  EXPECT_EQ(curl(url + "/v1/notes/a").output, "{\"text\":\"hello world\"} 200");
}

TEST_F(Example, names_every_fault_of_a_body_and_what_is_not_there) {
  std::unique_ptr<Process> service;
  const std::string url = start(service);
  const Ran wrong = curl(url + "/v1/notes/a", {"-X", "PUT", "--json", R"({"text":"","colour":1})"});
  EXPECT_THAT(wrong.output, testing::AllOf(HasSubstr("text"), HasSubstr("colour"), testing::EndsWith(" 422")));
  EXPECT_THAT(curl(url + "/v1/notes/b").output, testing::EndsWith(" 404"));
  EXPECT_THAT(curl(url + "/metrics").output, HasSubstr("/v1/notes/{name}"));
  EXPECT_THAT(curl(url + "/v1/health/ready").output, testing::EndsWith(" 200"));
}

TEST_F(Example, has_help_and_refuses_wrong_settings) {
  const Ran help = run({program_, "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, HasSubstr("--greeting"));
  const Ran wrong = run({program_, "--greting", "x"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.output, HasSubstr("--greeting"));
}

}  // namespace
}  // namespace stackgate::notes
