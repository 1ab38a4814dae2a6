// One database, SQLite or PostgreSQL, behind plain values: a pool of sessions, transactions, time-outs. Thread-safe.
//
// Statements are written once for both: placeholders $1, $2 … , ISO 8601 UTC texts for times, BIGINT, TEXT, BOOLEAN as
// 0/1 integers, "INSERT … ON CONFLICT", "RETURNING". What only one engine has is chosen by engine().
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "services/kit/base/service_error.hpp"

namespace stackgate::sql {

enum class Engine : std::uint8_t { sqlite, postgresql };

enum class Fault : std::uint8_t {
  away,       // cannot be reached, closed the connection, or did not answer in time: 503, try again
  busy,       // every session is in use, or a lock was not had in time: 503, try again
  conflict,   // serialization failure or deadlock that outlived the retries
  full,       // no space left in the database's storage: 507
  duplicate,  // a unique constraint
  refers,     // a foreign key or check constraint
  broken,     // anything else: a fault in the statement or the schema
  unfit,      // a text that no engine takes: a NUL, or no UTF-8; the caller's, mostly straight from a client
};

struct SqlError {
  Fault fault = Fault::broken;
  std::string message;     // the engine's own words with the statement's first words; never a value or a password
  std::string constraint;  // duplicate, refers: PostgreSQL: its name; SQLite: "table.column"

  operator ServiceError() const;  // to_service_error() (service_error.hpp), so that TRY passes it on
};

/// Text is UTF-8 without NUL; anything else is an error on both engines, as PostgreSQL has it: store bytes as
/// hexadecimal or base64.
using Value = std::variant<std::nullptr_t, std::int64_t, double, std::string>;

class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}
  std::size_t size() const { return values_.size(); }
  const Value& value(std::size_t column) const { return values_.at(column); }
  bool is_null(std::size_t column) const { return std::holds_alternative<std::nullptr_t>(values_.at(column)); }
  /// 0 or empty for NULL; numbers and texts are converted where that loses nothing, std::logic_error otherwise.
  std::int64_t integer(std::size_t column) const;
  double real(std::size_t column) const;
  std::string text(std::size_t column) const;

 private:
  std::vector<Value> values_;
};

struct Result {
  std::vector<Row> rows;      // SELECT, RETURNING
  std::int64_t affected = 0;  // INSERT, UPDATE, DELETE
};

template <typename T>
using Expected = std::expected<T, SqlError>;

/// One transaction. Belongs to the calling thread, and lives as long as the function that was given it.
class Session {
 public:
  virtual ~Session() = default;
  virtual Engine engine() const = 0;
  /// Exactly one statement. Its text never holds a value of a caller's: those are bound to $1 …. Statements that come
  /// again are prepared once per connection, so keep their texts constant.
  /// After an error the transaction is over, on both engines: every further call returns that error again, and nothing
  /// is committed. What may exist already is written with ON CONFLICT.
  virtual Expected<Result> run(std::string_view statement, const std::vector<Value>& values = {}) = 0;
  /// Several statements without values, each ended by ';': migrations.
  virtual Expected<void> script(std::string_view statements) = 0;
  /// Instead of Options::statement and Options::wait, for what follows in this transaction.
  virtual Expected<void> allow(std::chrono::milliseconds limit) = 0;
};

struct Options {
  unsigned sessions = 8;  // SQLite: readers; there is one writer
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds statement{10'000};  // a longer one is cancelled; a server that does not react is left
  std::chrono::milliseconds wait{5'000};        // for a free session or a lock
  bool erase = false;  // SQLite: what is deleted or replaced is overwritten in the file: where secrets are stored
};

class Database {
 public:
  /// "sqlite:PATH" (a file; its folder must exist) or "postgresql://user@host:port/name?sslmode=…" (libpq's own
  /// grammar; no password in it, it comes beside). Opening does not connect: a database that is away is the business of
  /// the first statement.
  static std::expected<std::unique_ptr<Database>, std::string> open(std::string_view url, std::string_view password,
                                                                    Options options = {});
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Engine engine() const;
  /// One statement by itself. One that only reads is tried again on a new connection when the old one turns out dead;
  /// one that writes only when it was not sent, so `away` may mean that it was done.
  Expected<Result> run(std::string_view statement, const std::vector<Value>& values = {});
  /// All or nothing, as if transactions ran one after the other (PostgreSQL: SERIALIZABLE; SQLite: one writer at a
  /// time). `work` may run again (serialization failure, deadlock, a connection that broke before the end): no effects
  /// outside the session. It rolls back when it returns an error or throws. Do not call the database from inside
  /// `work`. `away` from the COMMIT itself says in its message that the outcome is not known.
  Expected<void> transact(const std::function<Expected<void>(Session&)>& work);
  /// Several statements that only read, on one snapshot; beside writers, never waiting for them.
  Expected<void> read(const std::function<Expected<void>(Session&)>& work);
  /// SQLite: the write-ahead log, which still has what was erased, is emptied; busy readers: `busy`, to be tried again.
  /// PostgreSQL: nothing.
  Expected<void> empty_log();
  /// Does it answer? For readiness; returns within `limit`.
  Expected<void> ping(std::chrono::milliseconds limit);

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

/// The database's clock, the one that all replicas share: an expression for seconds since 1970, at the moment of the
/// statement.
constexpr std::string_view now_seconds(Engine engine) {
  return engine == Engine::sqlite ? "CAST(strftime('%s', 'now') AS INTEGER)"
                                  : "CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)";
}

}  // namespace stackgate::sql
