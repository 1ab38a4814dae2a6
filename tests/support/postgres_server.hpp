// A private PostgreSQL for a test program: started by postgres.sh at the first use, stopped at the end of the process.
#pragma once
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <signal.h>
#include <sys/wait.h>

#include "tests/support/paths.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::test {

class PostgresServer {
 public:
  /// One for the process. Nothing where the server's binaries are missing: why_missing() is what to skip with.
  static PostgresServer* shared() {
    static const std::unique_ptr<PostgresServer> server =
        why_missing().empty() ? std::make_unique<PostgresServer>() : nullptr;
    return server.get();
  }
  static std::string why_missing() {
    static const std::string why = [] {
      const auto [status, text] = script("available", "", "2>&1");
      return status == 0 ? std::string() : text.empty() ? std::string("no PostgreSQL") : text;
    }();
    return why;
  }

  PostgresServer() { start(); }
  ~PostgresServer() {
    resume();
    script("stop", folder_ / "pg", "immediate");
  }

  void start() {
    const auto [status, text] = script("start", folder_ / "pg", "");
    if (status != 0) throw std::runtime_error("postgres.sh start failed");
    url_ = text;
    std::ifstream(folder_ / "pg/password") >> password_;
    const auto [found, pid] = script("pid", folder_ / "pg", "");
    if (found != 0) throw std::runtime_error("postgres.sh pid failed");
    pid_ = std::stoi(pid);
  }
  void stop(std::string_view mode = "fast") { script("stop", folder_ / "pg", mode); }
  void restart(std::string_view mode = "fast") {
    stop(mode);
    start();
  }
  /// Every process of the server stands still, sockets open: what a hung machine looks like.
  void freeze() { to_all(SIGSTOP); }
  void resume() { to_all(SIGCONT); }

  const std::string& url() const { return url_; }
  const std::string& password() const { return password_; }
  /// A database of its own, with nothing in it.
  std::string fresh_database() {
    const std::string name = "t" + std::to_string(++databases_);
    const std::string command = "PGPASSWORD=" + password_ + " psql -q '" + url_ + "' -c 'CREATE DATABASE " + name + "'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("CREATE DATABASE failed");
    return url_.substr(0, url_.rfind('/') + 1) + name;
  }

 private:
  static std::pair<int, std::string> script(std::string_view what, const std::string& folder, std::string_view more) {
    const std::string command = test::source_dir().string() + "/tests/support/postgres.sh " + std::string(what) + " " +
                                folder + " " + std::string(more);
    std::string out;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return {-1, {}};
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) out += buffer.data();
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return {::pclose(pipe), out};
  }
  /// The postmaster first, so that it makes no child meanwhile.
  void to_all(int signal) const {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    const std::string command = "pkill -" + std::to_string(signal) + " -P " + std::to_string(pid_);
    [[maybe_unused]] const int status = std::system(command.c_str());
  }

  TempDir folder_;
  std::string url_, password_;
  int pid_ = 0, databases_ = 0;
};

}  // namespace stackgate::test
