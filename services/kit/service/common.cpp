#include "services/kit/service/common.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/kit/service/database.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/table.hpp"
#include "services/kit/telemetry/options.hpp"

namespace stackgate::service {

namespace common_detail {

/// Why a certificate or key cannot be read; empty when it can.
std::string why_unreadable(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not hold us
  if (fd < 0) return std::strerror(errno);
  struct stat about{};
  const bool regular = ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  ::close(fd);
  return regular ? std::string() : "it is no regular file";
}

}  // namespace common_detail

std::vector<settings::Setting> common_settings() {
  using namespace settings::table;
  std::vector<settings::Setting> out;
  append(
      out, "Serving",
      {listen("listen", "where to serve; :8000 is every address, port 0 any free one", "127.0.0.1:8000"),
       url("public-url",
           "how clients reach this service, for the URLs that it hands out; else what their requests say"),
       flag("trust-forwarded", "believe X-Forwarded-Proto, -Host and -For: only behind a proxy that sets them",
            "false"),
       text("tls-cert", "certificate chain (PEM) to serve HTTPS with; read again when it changes"),
       text("tls-key", "its private key (PEM)"),
       integer("threads", "threads for connections; 0: one for each core, at most 4", "0", 0, 64),
       integer("pool-threads", "requests that work at the same time, but for uploads and downloads", "32", 1, 1024),
       integer("transfer-threads", "uploads and downloads in progress at the same time", "64", 1, 4096),
       integer("transfers-per-client",
               "of them those of one client address (an IPv6 /64); 0: half. The others wait a moment, then: 503", "0",
               0, 4096),
       size("min-rate",
            "bytes a second that a client must move, while it is waited for, to keep its upload or download; 0: any",
            "4Ki", 0, 1 << 30),
       integer("pool-queue", "requests that may wait for those, of either kind; beyond it: 503", "1024", 1, 1'000'000),
       integer("max-connections", "open connections; the oldest idle one makes room", "10000", 8, 1'000'000),
       duration("drain-wait", "after SIGTERM: go on serving, not ready, while load balancers look away", "5s", 0, 3600),
       duration("drain-limit", "after that: time for requests in progress", "20s", 0, 86'400)});
  append(out, "Data",
         {directory("data-dir", "for files, and for SQLite unless --database-url says else", "data"),
          text("database-url",
               "postgresql://USER@HOST:PORT/NAME?sslmode=… or sqlite:FILE; without it SQLite in --data-dir"),
          secret("database-password", "PostgreSQL's"),
          integer("database-sessions", "connections to the database, at most", "8", 1, 500),
          duration("database-timeout", "for one statement", "10s", 1, 3600)});
  append(out, "Log",
         {choice("log-format", {"json", "text"}, "text on a terminal and json elsewhere unless it is given"),
          choice("log-level", {"debug", "info", "warning", "error"}, "what to leave out", "info")});
  append(out, {}, telemetry::telemetry_settings());
  return out;
}

std::optional<validate::Finding> missing_datastore_credential(const settings::Values& values) {
  const bool name = !values.text("datastore-username").empty(), password = !values.text("datastore-password").empty();
  if (name == password) return std::nullopt;
  return settings::fault(name ? "--datastore-password-file" : "--datastore-username", "is missing",
                         "give DATASTORE_USERNAME and DATASTORE_PASSWORD, or neither");
}

bool serves(const settings::Program& program, const settings::Values& values) {
  return program.commands.empty() || values.command() == program.commands.front().name;
}

validate::Findings check_common(const settings::Program& program, const settings::Values& values) {
  validate::Findings out;
  if (values.has("tls-cert") != values.has("tls-key")) {
    const bool key = values.has("tls-cert");
    out.push_back(settings::fault(key ? "--tls-key" : "--tls-cert",
                                  key ? "is needed beside --tls-cert" : "is needed beside --tls-key",
                                  "give both, or neither for plain HTTP"));
  }
  if (serves(program, values)) {
    for (const std::string_view name : {"tls-cert", "tls-key"}) {
      if (!values.has(name)) continue;
      if (auto why = common_detail::why_unreadable(values.text(name)); !why.empty())
        out.push_back(settings::fault(fmt::format("--{}", name),
                                      fmt::format("cannot read {}: {}", values.text(name), why),
                                      "name a PEM file that this user may read"));
    }
  }
  if (auto problem = database_url_problem(database_url(program, values)); !problem.empty()) {
    out.push_back(
        settings::fault("--database-url", std::move(problem), "write postgresql://USER@HOST:PORT/NAME or sqlite:FILE"));
  }
  for (auto& finding : telemetry::check_telemetry(values)) out.push_back(std::move(finding));
  return out;
}

run::DrainPlan drain_plan(const settings::Values& values) {
  return {std::chrono::milliseconds(values.integer("drain-wait")),
          std::chrono::milliseconds(values.integer("drain-limit"))};
}

}  // namespace stackgate::service
