#include "services/kit/sql/postgres_link.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <poll.h>

#include "services/kit/base/try.hpp"
#include "services/kit/sql/error_codes.hpp"

namespace stackgate::sql {
namespace postgres_link_detail {

/// libpq's messages are lines, some with a final newline.
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' || c == '\t' ? ' ' : c;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

/// poll(2) until `deadline`: positive when ready, 0 when it is over.
int poll_until(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now()).count();
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000)));
    if (ready != 0 || left <= 0) {
      if (ready >= 0 || errno != EINTR) return ready;
    }
  }
}

/// PQcancel opens a connection and waits for its end without any limit, so a server that hangs would hang the caller:
/// it gets a thread of its own, few at a time.
void cancel_in_background(PGconn* connection) {
  static std::atomic<int> running{0};
  PGcancel* cancel = PQgetCancel(connection);
  if (cancel == nullptr) return;
  if (running.fetch_add(1) >= 8) {
    running.fetch_sub(1);
    PQfreeCancel(cancel);
    return;
  }
  try {
    std::thread([cancel] {
      std::array<char, 256> why{};
      PQcancel(cancel, why.data(), static_cast<int>(why.size()));
      PQfreeCancel(cancel);
      running.fetch_sub(1);
    }).detach();
  } catch (const std::system_error&) {  // no thread to be had: the connection is given up instead
    running.fetch_sub(1);
    PQfreeCancel(cancel);
  }
}

Expected<void> settle(PostgresLink& link, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now());
  auto results =
      TRY(link.collect(PQsendQuery(link.raw(), "SET TIME ZONE 'UTC'; SET standard_conforming_strings = on") == 1,
                       std::max(left, Milliseconds(1)), Milliseconds(0)));
  for (const auto& result : results) {
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR) {
      return std::unexpected(SqlError{Fault::away, one_line(PQresultErrorMessage(result.get())), {}});
    }
  }
  return {};
}

}  // namespace postgres_link_detail

std::expected<void, std::string> check_postgres_url(const std::string& url) {
  char* why = nullptr;
  const std::unique_ptr<PQconninfoOption, Freed<PQconninfoFree>> parts(PQconninfoParse(url.c_str(), &why));
  const std::unique_ptr<char, Freed<PQfreemem>> message(why);
  if (parts == nullptr) {
    // libpq quotes what it did not understand, and that could be a password.
    const bool quiet = url.contains('@') || url.contains("password") || message == nullptr;
    return std::unexpected(quiet ? std::string("is no PostgreSQL URL; write postgresql://user@host:5432/name")
                                 : postgres_link_detail::one_line(message.get()));
  }
  for (const PQconninfoOption* part = parts.get(); part->keyword != nullptr; ++part) {
    const std::string_view keyword = part->keyword;
    if ((keyword == "password" || keyword == "sslpassword") && part->val != nullptr) {
      return std::unexpected(std::string("holds a password; give it beside the URL"));
    }
  }
  return {};
}

Expected<std::unique_ptr<PostgresLink>> PostgresLink::connect(const PostgresTarget& target,
                                                              Clock::time_point deadline) {
  using namespace postgres_link_detail;
  // What stands before dbname is a default for what the URL does not say; what stands after it wins.
  std::vector<const char*> names{"keepalives_idle", "keepalives_interval", "tcp_user_timeout",
                                 "dbname",          "client_encoding",     "fallback_application_name"};
  std::vector<const char*> values{"30", "10", "30000", target.url.c_str(), "UTF8", "stackgate"};
  if (!target.password.empty()) {
    names.push_back("password");
    values.push_back(target.password.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<PostgresLink> link(new PostgresLink(PQconnectStartParams(names.data(), values.data(), 1)));
  if (link->raw() == nullptr) return std::unexpected(SqlError{Fault::away, "out of memory", {}});
  const auto failed = [&](std::string_view why) {
    return std::unexpected(SqlError{Fault::away, fmt::format("cannot reach PostgreSQL: {}", one_line(why)), {}});
  };
  if (PQstatus(link->raw()) == CONNECTION_BAD) return failed(PQerrorMessage(link->raw()));
  for (PostgresPollingStatusType state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;) {
    const int ready = poll_until(PQsocket(link->raw()), state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline);
    if (ready == 0) return failed("it did not answer in time");
    state = PQconnectPoll(link->raw());
    if (state == PGRES_POLLING_FAILED) return failed(PQerrorMessage(link->raw()));
  }
  if (PQsetnonblocking(link->raw(), 1) != 0) return failed(PQerrorMessage(link->raw()));
  PQsetErrorVerbosity(link->raw(), PQERRORS_SQLSTATE);  // "FATAL:  57P01"; results keep their words
  // Without this a NOTICE goes to standard error. What ends an idle session arrives as one too.
  PQsetNoticeReceiver(
      link->raw(),
      [](void* self, const PGresult* notice) {
        const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
        const char* state = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
        if (severity == nullptr || state == nullptr) return;
        // A crash is announced by a warning.
        if (std::string_view(severity) != "FATAL" && !std::string_view(state).starts_with("57P")) return;
        static_cast<PostgresLink*>(self)->farewell_ = state;
      },
      link.get());
  if (auto settled = settle(*link, deadline); !settled) return failed(settled.error().message);
  return link;
}

PostgresLink::~PostgresLink() { PQfinish(connection_); }

bool PostgresLink::still_good() {
  if (!usable()) return false;
  // Something came unasked: the server's farewell, a notice, a TLS session ticket. The end of the connection may lie
  // behind it, so all of it is read.
  for (int i = 0; i < 16; ++i) {
    pollfd entry{.fd = PQsocket(connection_), .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, 0) == 0) return true;
    if (PQconsumeInput(connection_) == 0 || PQstatus(connection_) != CONNECTION_OK || PQisBusy(connection_) != 0 ||
        !farewell_.empty()) {
      return false;
    }
  }
  return false;
}

PostgresLink::Waited PostgresLink::wait(bool for_write, Clock::time_point deadline) const {
  const short events = for_write ? POLLIN | POLLOUT : POLLIN;
  const int ready = postgres_link_detail::poll_until(PQsocket(connection_), events, deadline);
  return ready > 0 ? Waited::ready : ready == 0 ? Waited::late : Waited::lost;
}

PostgresLink::Waited PostgresLink::read_all(std::vector<ResultPointer>& results, Clock::time_point deadline) {
  for (;;) {
    const int unsent = PQflush(connection_);
    if (unsent < 0) return Waited::lost;
    while (PQisBusy(connection_) == 0) {
      PGresult* result = PQgetResult(connection_);
      if (result == nullptr) return PQstatus(connection_) == CONNECTION_OK ? Waited::ready : Waited::lost;
      results.emplace_back(result);
    }
    const Waited waited = wait(unsent == 1, deadline);
    if (waited != Waited::ready) return waited;
    if (PQconsumeInput(connection_) == 0) {
      // What the server said before it closed is still to be had: "terminating connection due to …".
      while (PQisBusy(connection_) == 0) {
        PGresult* result = PQgetResult(connection_);
        if (result == nullptr) break;
        results.emplace_back(result);
      }
      return Waited::lost;
    }
  }
}

SqlError PostgresLink::lost() const {
  return {Fault::away, postgres_link_detail::one_line(PQerrorMessage(connection_)), {}};
}

Expected<std::vector<ResultPointer>> PostgresLink::collect(bool sent, Milliseconds limit, Milliseconds grace) {
  was_sent_ = sent;
  std::vector<ResultPointer> results;
  if (!sent) {
    if (PQstatus(connection_) != CONNECTION_OK) usable_ = false;
    return std::unexpected(lost());
  }
  Waited outcome = read_all(results, Clock::now() + limit);
  if (outcome == Waited::late) {
    postgres_link_detail::cancel_in_background(connection_);
    usable_ = false;
    if (grace > Milliseconds(0)) outcome = read_all(results, Clock::now() + grace);
    if (outcome == Waited::late) {
      return std::unexpected(
          SqlError{Fault::away, fmt::format("PostgreSQL did not answer within {} ms", limit.count()), {}});
    }
  }
  if (outcome == Waited::lost) {
    usable_ = false;
    // With the server's own last words, where there are some, the caller classifies by their code.
    const bool words = !results.empty() && PQresultErrorField(results.back().get(), PG_DIAG_SQLSTATE) != nullptr;
    if (!words) return std::unexpected(lost());
  }
  return results;
}

}  // namespace stackgate::sql
