#include "services/kit/service/common.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/kit/service/database.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/telemetry/options.hpp"

namespace stackgate::service {

using settings::Kind;
using settings::Setting;

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

std::vector<Setting> common_settings() {
  std::vector<Setting> out{
      {.name = "listen",
       .kind = Kind::listen,
       .help = "where to serve; :8000 is every address, port 0 any free one",
       .fallback = "127.0.0.1:8000",
       .group = "Serving"},
      {.name = "public-url",
       .kind = Kind::url,
       .help = "how clients reach this service, for the URLs that it hands out; else what their requests say",
       .group = "Serving"},
      {.name = "trust-forwarded",
       .kind = Kind::flag,
       .help = "believe X-Forwarded-Proto, -Host and -For: only behind a proxy that sets them",
       .fallback = "false",
       .group = "Serving"},
      {.name = "tls-cert",
       .help = "certificate chain (PEM) to serve HTTPS with; read again when it changes",
       .group = "Serving"},
      {.name = "tls-key", .help = "its private key (PEM)", .group = "Serving"},
      {.name = "threads",
       .kind = Kind::integer,
       .help = "threads for connections; 0: one for each core, at most 4",
       .fallback = "0",
       .group = "Serving",
       .at_most = 64},
      {.name = "pool-threads",
       .kind = Kind::integer,
       .help = "requests that work at the same time, but for uploads and downloads",
       .fallback = "32",
       .group = "Serving",
       .at_least = 1,
       .at_most = 1024},
      {.name = "transfer-threads",
       .kind = Kind::integer,
       .help = "uploads and downloads in progress at the same time",
       .fallback = "64",
       .group = "Serving",
       .at_least = 1,
       .at_most = 4096},
      {.name = "transfers-per-client",
       .kind = Kind::integer,
       .help = "of them those of one client address (an IPv6 /64); 0: half. The others wait a moment, then: 503",
       .fallback = "0",
       .group = "Serving",
       .at_most = 4096},
      {.name = "min-rate",
       .kind = Kind::size,
       .help = "bytes a second that a client must move, while it is waited for, to keep its upload or download; 0: any",
       .fallback = "4Ki",
       .group = "Serving",
       .at_most = 1 << 30},
      {.name = "pool-queue",
       .kind = Kind::integer,
       .help = "requests that may wait for those, of either kind; beyond it: 503",
       .fallback = "1024",
       .group = "Serving",
       .at_least = 1,
       .at_most = 1'000'000},
      {.name = "max-connections",
       .kind = Kind::integer,
       .help = "open connections; the oldest idle one makes room",
       .fallback = "10000",
       .group = "Serving",
       .at_least = 8,
       .at_most = 1'000'000},
      {.name = "drain-wait",
       .kind = Kind::duration,
       .help = "after SIGTERM: go on serving, not ready, while load balancers look away",
       .fallback = "5s",
       .group = "Serving",
       .at_most = 3600},
      {.name = "drain-limit",
       .kind = Kind::duration,
       .help = "after that: time for requests in progress",
       .fallback = "20s",
       .group = "Serving",
       .at_most = 86'400},
      {.name = "data-dir",
       .kind = Kind::directory,
       .help = "for files, and for SQLite unless --database-url says else",
       .fallback = "data",
       .group = "Data"},
      {.name = "database-url",
       .help = "postgresql://USER@HOST:PORT/NAME?sslmode=… or sqlite:FILE; without it SQLite "
               "in --data-dir",
       .group = "Data"},
      {.name = "database-password", .kind = Kind::secret, .help = "PostgreSQL's", .group = "Data"},
      {.name = "database-sessions",
       .kind = Kind::integer,
       .help = "connections to the database, at most",
       .fallback = "8",
       .group = "Data",
       .at_least = 1,
       .at_most = 500},
      {.name = "database-timeout",
       .kind = Kind::duration,
       .help = "for one statement",
       .fallback = "10s",
       .group = "Data",
       .at_least = 1,
       .at_most = 3600},
      {.name = "log-format",
       .kind = Kind::choice,
       .help = "text on a terminal and json elsewhere unless it is given",
       .group = "Log",
       .choices = {"json", "text"}},
      {.name = "log-level",
       .kind = Kind::choice,
       .help = "what to leave out",
       .fallback = "info",
       .group = "Log",
       .choices = {"debug", "info", "warning", "error"}},
  };
  for (Setting& setting : telemetry::telemetry_settings()) out.push_back(std::move(setting));
  return out;
}

bool serves(const settings::Program& program, const settings::Values& values) {
  return program.commands.empty() || values.command() == program.commands.front().name;
}

validate::Findings check_common(const settings::Program& program, const settings::Values& values) {
  validate::Findings out;
  const auto complain = [&](std::string flag, std::string problem, std::string fix) {
    out.push_back({.rule = "setting",
                   .path = std::move(flag),
                   .value = {},
                   .problem = std::move(problem),
                   .fix = std::move(fix)});
  };
  if (values.has("tls-cert") != values.has("tls-key")) {
    const bool key = values.has("tls-cert");
    complain(key ? "--tls-key" : "--tls-cert", key ? "is needed beside --tls-cert" : "is needed beside --tls-key",
             "give both, or neither for plain HTTP");
  }
  if (serves(program, values)) {
    for (const std::string_view name : {"tls-cert", "tls-key"}) {
      if (!values.has(name)) continue;
      if (auto why = common_detail::why_unreadable(values.text(name)); !why.empty())
        complain(fmt::format("--{}", name), fmt::format("cannot read {}: {}", values.text(name), why),
                 "name a PEM file that this user may read");
    }
  }
  if (auto problem = database_url_problem(database_url(program, values)); !problem.empty()) {
    complain("--database-url", std::move(problem), "write postgresql://USER@HOST:PORT/NAME or sqlite:FILE");
  }
  for (auto& finding : telemetry::check_telemetry(values)) out.push_back(std::move(finding));
  return out;
}

run::DrainPlan drain_plan(const settings::Values& values) {
  return {std::chrono::milliseconds(values.integer("drain-wait")),
          std::chrono::milliseconds(values.integer("drain-limit"))};
}

}  // namespace stackgate::service
