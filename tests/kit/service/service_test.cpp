// A small service, run as a process of its own and used by curl.
#include "services/kit/service/service.hpp"

#include <chrono>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/kit/service/database.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::service {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Service sample() {
  Service out;
  out.program = {.name = "stackgate-sample",
                 .summary = "a service for a test",
                 .commands = {{"serve", "serves"}, {"migrate", "brings the database up to date"}},
                 .settings = common_settings()};
  out.program.settings.push_back({.name = "colour", .help = "of the answer", .fallback = "green", .group = "Sample"});
  out.build = [program = out.program](const settings::Values& values,
                                      metrics::Registry& registry) -> std::expected<Parts, Error> {
    if (values.text("colour") == "none") return std::unexpected(Error{"there is no such colour"});
    auto database = open_database(program, values);
    if (!database) return std::unexpected(database.error());
    registry.counter("sample_total", "Counts nothing.").at();
    Parts parts;
    parts.routes.push_back({"GET", "/colour", [colour = values.text("colour")](web::Call&) {
                              return http::Response{200, "text/plain", {}, colour};
                            }});
    parts.routes.push_back({"GET", "/slow", [](web::Call&) {
                              std::this_thread::sleep_for(700ms);
                              return http::Response{200, "text/plain", {}, "done"};
                            }});
    parts.routes.push_back({"GET", "/rows", [database = *database](web::Call&) -> web::Answer {
                              const auto rows = database->run("SELECT 7");
                              if (!rows) return web::Failure{503, rows.error().message};
                              return http::Response{200, "text/plain", {}, rows->rows[0].text(0)};
                            }});
    parts.checks.push_back(database_check(*database));
    parts.checks.push_back(
        {"flag file", [path = values.text("data-dir") + "/away"](auto) -> std::expected<void, Error> {
           if (std::ifstream(path)) return std::unexpected(Error{"the file says no"});
           return {};
         }});
    parts.about = {{"colour", values.text("colour")}};
    parts.on_stop = [] { std::fputs("on_stop was called\n", stderr); };
    return parts;
  };
  out.run_command = [](const settings::Values& values) { return values.command() == "migrate" ? 7 : 1; };
  out.check = [](const settings::Values& values) {
    validate::Findings findings;
    if (values.text("colour") == "blue") {
      findings.push_back(
          {.rule = "setting", .path = "--colour", .value = {}, .problem = "must not be blue", .fix = "write green"});
    }
    return findings;
  };
  return out;
}

class SampleService : public testing::Test {
 protected:
  ~SampleService() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }
  void start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "stackgate-sample");
    arguments.push_back("--data-dir=" + (folder_ / "data"));
    child_ = ::fork();
    if (child_ != 0) return;
    for (const auto& [fd, name] : {std::pair{1, "stdout"}, std::pair{2, "stderr"}}) {
      std::FILE* file = std::fopen((folder_ / name).c_str(), "w");
      ::dup2(::fileno(file), fd);
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    ::_exit(run(sample(), static_cast<int>(argv.size()), argv.data()));
  }
  /// Its exit status; -1 when it was killed or has not ended in ten seconds.
  int ended() {
    for (int i = 0; i < 1000; ++i) {
      int status = 0;
      if (::waitpid(child_, &status, WNOHANG) == child_) {
        child_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      }
      std::this_thread::sleep_for(10ms);
    }
    return -1;
  }
  std::string content(const char* name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Where the log says that it listens.
  std::string url() {
    for (int i = 0; i < 500; ++i) {
      const std::string log = content("stderr");
      const auto begin = log.find("\"url\":\"");
      if (begin != std::string::npos && log.find("listening") != std::string::npos) {
        return log.substr(begin + 7, log.find('"', begin + 7) - begin - 7);
      }
      std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "it does not listen: " << content("stderr");
    return "http://127.0.0.1:1";
  }
  static std::string output_of(const std::string& command) {
    std::string out;
    std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    char buffer[512];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
    ::pclose(pipe);
    return out;
  }
  static std::string curl(const std::string& what) { return output_of("curl -s -m 5 -w '\\n%{http_code}' " + what); }
  std::string until(const std::string& what, const std::string& wanted) {
    std::string last;
    for (int i = 0; i < 300; ++i) {
      last = curl(what);
      if (last.find(wanted) != std::string::npos) return last;
      std::this_thread::sleep_for(20ms);
    }
    return last;
  }

  stackgate::test::TempDir folder_;
  pid_t child_ = 0;
};

TEST_F(SampleService, serves_its_routes_with_health_and_metrics_and_ends_with_zero) {
  start({"--listen=127.0.0.1:0", "--drain-wait=0s"});
  const std::string base = url();
  EXPECT_EQ(curl(base + "/colour"), "green\n200");
  EXPECT_EQ(curl(base + "/rows"), "7\n200");
  EXPECT_THAT(until(base + "/v1/health/ready", "\n200"), HasSubstr("\"status\":\"pass\""));
  for (const char* path : {"/health", "/v1/health", "/v1/health/live"})
    EXPECT_THAT(curl(base + path), HasSubstr("\n200"));
  EXPECT_THAT(curl(base + "/metrics"), AllOf(HasSubstr("sample_total"), HasSubstr("process_resident_memory_bytes"),
                                             HasSubstr("stackgate_check_up{check=\"database\"} 1")));
  ::kill(child_, SIGTERM);
  EXPECT_EQ(ended(), 0);
  EXPECT_THAT(content("stderr"), AllOf(HasSubstr("on_stop was called"), HasSubstr("stopped")));
  EXPECT_TRUE(std::ifstream(folder_ / "data/sample.db"));
}

TEST_F(SampleService, says_at_its_start_which_data_it_is_at) {
  start({"--listen=127.0.0.1:0", "--drain-wait=0s"});
  url();
  EXPECT_THAT(content("stderr"), AllOf(HasSubstr("\"data_dir\":\"" + (folder_ / "data") + "\""),
                                       HasSubstr("\"database\":\"sqlite:" + (folder_ / "data/sample.db") + "\""),
                                       HasSubstr("\"colour\":\"green\"")));
  EXPECT_EQ(database_shown("postgresql://ann@db:5432/store?sslmode=require&password=hunter2"),
            "postgresql://ann@db:5432/store");
  EXPECT_EQ(database_shown("postgresql://ann:hunter2@db/store"), "postgresql://ann@db/store");
  EXPECT_EQ(database_shown("postgresql://db:5432/store"), "postgresql://db:5432/store");
}

TEST_F(SampleService, warns_of_variables_that_nobody_reads) {
  ::setenv("STACKGATE_COLOR", "red", 1);
  ::setenv("STACKGATE_COLOUR_SERVICE_HOST", "10.0.0.1", 1);
  start({"--listen=127.0.0.1:0", "--drain-wait=0s"});
  ::unsetenv("STACKGATE_COLOR");
  ::unsetenv("STACKGATE_COLOUR_SERVICE_HOST");
  url();
  EXPECT_THAT(content("stderr"),
              AllOf(HasSubstr("\"variable\":\"STACKGATE_COLOR\",\"did_you_mean\":\"STACKGATE_COLOUR\""),
                    Not(HasSubstr("SERVICE_HOST"))));
}

TEST_F(SampleService, is_not_ready_while_a_check_fails_but_stays_alive) {
  start({"--listen=127.0.0.1:0", "--drain-wait=0s"});
  const std::string base = url();
  EXPECT_THAT(until(base + "/v1/health/ready", "\n200"), HasSubstr("\n200"));
  folder_.write("data/away", "");
  EXPECT_THAT(until(base + "/v1/health/ready", "\n503"), AllOf(HasSubstr("\n503"), HasSubstr("the file says no")));
  EXPECT_THAT(curl(base + "/v1/health/live"), HasSubstr("\n200"));
  EXPECT_THAT(content("stderr"), HasSubstr("the file says no"));
  ASSERT_EQ(::unlink((folder_ / "data/away").c_str()), 0);
  EXPECT_THAT(until(base + "/v1/health/ready", "\n200"), HasSubstr("\n200"));
}

TEST_F(SampleService, finishes_what_is_in_progress_after_sigterm) {
  start({"--listen=127.0.0.1:0", "--drain-wait=300ms", "--drain-limit=5s"});
  const std::string base = url();
  until(base + "/v1/health/ready", "\n200");
  std::string slow;
  std::jthread request([&] { slow = curl(base + "/slow"); });
  std::this_thread::sleep_for(200ms);
  ::kill(child_, SIGTERM);
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(curl(base + "/v1/health/ready"), HasSubstr("\n503"));
  EXPECT_EQ(curl(base + "/colour"), "green\n200");
  EXPECT_EQ(ended(), 0);
  request.join();
  EXPECT_EQ(slow, "done\n200");
}

TEST_F(SampleService, serves_a_renewed_certificate_without_a_restart) {
  const auto make = [&](const std::string& name) {
    output_of("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" + name +
              " -addext subjectAltName=IP:127.0.0.1 -keyout " + (folder_ / "new.key") + " -out " +
              (folder_ / "new.crt"));
    std::rename((folder_ / "new.key").c_str(), (folder_ / "tls.key").c_str());
    std::rename((folder_ / "new.crt").c_str(), (folder_ / "tls.crt").c_str());
  };
  make("first");
  start({"--listen=127.0.0.1:0", "--drain-wait=0s", "--tls-cert=" + (folder_ / "tls.crt"),
         "--tls-key=" + (folder_ / "tls.key")});
  const std::string base = url();
  EXPECT_THAT(base, testing::StartsWith("https://"));
  EXPECT_EQ(curl("--cacert " + (folder_ / "tls.crt") + " " + base + "/colour"), "green\n200");
  make("second");
  EXPECT_EQ(until("--cacert " + (folder_ / "tls.crt") + " " + base + "/colour", "\n200"), "green\n200");
  EXPECT_THAT(curl("-k " + base + "/metrics"), HasSubstr("stackgate_certificate_reloads_total 2"));
}

TEST_F(SampleService, does_not_start_without_the_certificate_that_it_was_given) {
  start({"--listen=127.0.0.1:0", "--tls-cert=/nope/tls.crt", "--tls-key=/tmp"});
  EXPECT_EQ(ended(), 2);
  EXPECT_THAT(content("stderr"), AllOf(HasSubstr("--tls-cert: cannot read /nope/tls.crt: No such file or directory"),
                                       HasSubstr("--tls-key: cannot read /tmp: it is no regular")));
  folder_.write("tls.crt", "nothing");
  start({"--listen=127.0.0.1:0", "--tls-cert=" + (folder_ / "tls.crt"), "--tls-key=" + (folder_ / "tls.crt")});
  EXPECT_EQ(ended(), 1);
  EXPECT_THAT(content("stderr"), AllOf(HasSubstr("cannot start"), HasSubstr("--tls-cert " + (folder_ / "tls.crt"))));
  start({"migrate", "--tls-cert=/nope", "--tls-key=/nope"});
  EXPECT_EQ(ended(), 7) << "which uses no certificate";
}

TEST_F(SampleService, shows_every_wrong_setting_and_ends_with_two) {
  start({"--listen=nowhere", "--colour=blue", "--tls-cert=/x", "--thread=4",
         "--database-url=postgresql://u:hunter2@h/d"});
  EXPECT_EQ(ended(), 2);
  EXPECT_THAT(content("stderr"),
              AllOf(HasSubstr("stackgate-sample: 6 settings are wrong"), HasSubstr("--listen: "),
                    HasSubstr("must not be blue"), HasSubstr("--tls-key: is needed beside --tls-cert"),
                    HasSubstr("--tls-cert: cannot read /x: No such file or directory"),
                    HasSubstr("did you mean --threads?"), HasSubstr("holds a password"), Not(HasSubstr("hunter2"))));
}

TEST_F(SampleService, ends_with_one_when_it_cannot_start) {
  start({"--listen=127.0.0.1:0", "--colour=none"});
  EXPECT_EQ(ended(), 1);
  EXPECT_THAT(content("stderr"), HasSubstr("there is no such colour"));
  start({"--listen=192.0.2.1:80"});
  EXPECT_EQ(ended(), 1);
  EXPECT_THAT(content("stderr"), HasSubstr("192.0.2.1"));
}

TEST_F(SampleService, prints_help_and_its_version_and_runs_its_commands) {
  start({"--help"});
  EXPECT_EQ(ended(), 0);
  EXPECT_THAT(content("stdout"), AllOf(HasSubstr("a service for a test"), HasSubstr("--database-password-file FILE"),
                                       HasSubstr("--colour")));
  EXPECT_THAT(content("stderr"), IsEmpty());
  start({"--version"});
  EXPECT_EQ(ended(), 0);
  EXPECT_THAT(content("stdout"), testing::ContainsRegex("stackgate-sample [0-9.]+\n$"));
  start({"migrate"});
  EXPECT_EQ(ended(), 7);
}

}  // namespace
}  // namespace stackgate::service
