// One connection to one engine: what the pool lends and what a transaction runs on. Internal to kit/sql.
// Belongs to one thread at a time.
#pragma once
#include <chrono>
#include <optional>

#include "services/kit/sql/database.hpp"

namespace stackgate::sql {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

enum class Mode : std::uint8_t { read, write };

/// What an error means for whoever thinks of trying again.
enum class Retry : std::uint8_t {
  no,
  again,      // the engine undid the transaction and another try may succeed: 40001, 40P01, SQLITE_BUSY_SNAPSHOT
  reconnect,  // the connection is gone and nothing was done
  lost,       // the connection is gone; a statement by itself may have been done, a transaction was not
};

class Connection : public Session {
 public:
  Expected<Result> run(std::string_view statement, const std::vector<Value>& values) final;
  Expected<void> script(std::string_view statements) final;
  Expected<void> allow(Milliseconds limit) final;

  Expected<void> begin(Mode mode);
  Expected<void> commit();
  /// Never fails: a connection that cannot is unusable afterwards.
  void roll_back();
  /// For the statements up to the next begin() or rest().
  void set_limit(Milliseconds statement, Milliseconds lock);
  /// Back to the limits of Options, before the pool takes it.
  void rest();

  /// False: throw it away.
  virtual bool usable() const = 0;
  /// Looks whether a connection that lay idle has been closed meanwhile; does not ask the server.
  virtual bool still_good() = 0;
  /// Whether the statement changes nothing, so that it may be sent twice. A syntax error counts as reading.
  virtual bool only_reads(std::string_view statement) = 0;

  /// Of the last error.
  Retry retry() const { return retry_; }
  const std::optional<SqlError>& failure() const { return failure_; }

 protected:
  explicit Connection(const Options& options);
  virtual Expected<Result> execute(std::string_view statement, const std::vector<Value>& values) = 0;
  virtual Expected<void> execute_script(std::string_view statements) = 0;
  virtual Expected<void> start_transaction(Mode mode) = 0;
  virtual Expected<void> end_transaction() = 0;
  virtual bool undo_transaction() = 0;
  virtual Expected<void> limits_changed() = 0;

  Retry retry_ = Retry::no;
  Milliseconds statement_limit_, lock_limit_;

 private:
  const Milliseconds usual_statement_limit_, usual_lock_limit_;
  bool in_transaction_ = false;
  std::optional<SqlError> failure_;  // of the transaction
};

/// NUL or bytes that are no UTF-8: what neither engine shall be given. `position` counts from 1, as $1 does.
std::optional<SqlError> check_text(std::string_view text, std::size_t position);
/// The statement's first words, for messages: statements hold no values.
std::string beginning(std::string_view statement);

}  // namespace stackgate::sql
