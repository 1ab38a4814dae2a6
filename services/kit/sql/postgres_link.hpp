// libpq without waiting longer than said: everything is sent and read asynchronously, with poll(2) and a deadline.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include "services/kit/base/freed.hpp"
#include "services/kit/sql/connection.hpp"

namespace stackgate::sql {

using ResultPointer = std::unique_ptr<PGresult, Freed<PQclear>>;

struct PostgresTarget {
  std::string url;
  std::string password;  // beside the URL, so that no message of libpq's quotes it
};

/// The URL's faults, without what could be a password.
std::expected<void, std::string> check_postgres_url(const std::string& url);

class PostgresLink {
 public:
  /// Connected and settled (encoding, time zone), or why not. Names are resolved by the system's resolver, whose own
  /// time limits come on top.
  static Expected<std::unique_ptr<PostgresLink>> connect(const PostgresTarget& target, Clock::time_point deadline);
  ~PostgresLink();
  PostgresLink(const PostgresLink&) = delete;
  PostgresLink& operator=(const PostgresLink&) = delete;

  PGconn* raw() const { return connection_; }
  bool usable() const { return usable_ && PQstatus(connection_) == CONNECTION_OK; }
  /// Whether the server has closed it while nobody looked.
  bool still_good();
  void give_up() { usable_ = false; }

  /// After a PQsend… that returned `sent`: flushes it and collects every result. `limit` over: asks the server to
  /// cancel, waits `grace` for its answer, and gives the connection up either way, because the request to cancel may
  /// arrive late and would then hit the next statement.
  Expected<std::vector<ResultPointer>> collect(bool sent, Milliseconds limit, Milliseconds grace);
  /// The code with which the server ended the session without being asked; empty while it has not.
  const std::string& farewell() const { return farewell_; }
  /// True once a byte of the last statement may have reached the server.
  bool was_sent() const { return was_sent_; }

 private:
  explicit PostgresLink(PGconn* connection) : connection_(connection) {}
  enum class Waited : std::uint8_t { ready, late, lost };
  Waited wait(bool for_write, Clock::time_point deadline) const;
  Waited read_all(std::vector<ResultPointer>& results, Clock::time_point deadline);
  SqlError lost() const;

  PGconn* connection_;
  bool usable_ = true;
  bool was_sent_ = false;
  std::string farewell_;
};

}  // namespace stackgate::sql
