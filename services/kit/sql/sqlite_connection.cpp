#include "services/kit/sql/sqlite_connection.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/base/backoff.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/sql/error_codes.hpp"

namespace stackgate::sql {
namespace sqlite_detail {

constexpr std::size_t most_prepared = 256;
constexpr int instructions_between_looks = 4000;  // some 100 µs

/// The number of "$12"; 0 for another name.
std::size_t place_of(const char* name) {
  return name != nullptr && *name == '$' ? to_number<std::size_t>(name + 1).value_or(0) : 0;
}

void rest_a_moment() {
  std::this_thread::sleep_for(std::chrono::microseconds(500) + std::chrono::microseconds(4500) * Jitter::draw());
}

Value column_value(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    default: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const int length = sqlite3_column_bytes(statement, column);
      return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(length));
    }
  }
}

bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n;") == std::string_view::npos; }

}  // namespace sqlite_detail

SqliteConnection::SqliteConnection(Handle handle, const Options& options)
    : Connection(options), handle_(std::move(handle)) {
  start_clock();
  sqlite3_progress_handler(
      handle_.get(), sqlite_detail::instructions_between_looks,
      [](void* self) { return Clock::now() > static_cast<SqliteConnection*>(self)->statement_end_ ? 1 : 0; }, this);
  // Ours instead of sqlite3_busy_timeout: it knows the deadline, and does not sleep for 100 ms.
  sqlite3_busy_handler(
      handle_.get(),
      [](void* self, int) {
        if (Clock::now() > static_cast<SqliteConnection*>(self)->lock_end_) return 0;
        sqlite_detail::rest_a_moment();
        return 1;
      },
      this);
}

Expected<std::unique_ptr<Connection>> SqliteConnection::open(const std::string& path, Mode mode,
                                                             const Options& options) {
  // SQLite would make the file readable for everybody; what is in it is not for everybody. A file that exists is not
  // opened: closing it would drop the locks that this process' other connections hold on it, and another process would
  // then throw away the log they write (https://www.sqlite.org/howtocorrupt.html, 2.2).
  if (const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); fd >= 0) ::close(fd);
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Handle handle(raw);
  if (code != SQLITE_OK) {
    return std::unexpected(
        SqlError{Fault::away,
                 fmt::format("cannot open {}: {}", path, raw == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(raw)),
                 {}});
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);  // "text" is a column, as in PostgreSQL
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  std::unique_ptr<SqliteConnection> made(new SqliteConnection(std::move(handle), options));
  // synchronous=FULL: what was acknowledged outlives a power failure. The change to WAL is for one connection at a time
  // and does not ask the busy handler.
  constexpr std::string_view settings =
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY;"
      "PRAGMA journal_size_limit=67108864; PRAGMA trusted_schema=OFF;";
  Expected<void> set = made->execute_script(settings);
  for (const auto end = Clock::now() + options.wait; !set && set.error().fault == Fault::busy && Clock::now() < end;) {
    sqlite_detail::rest_a_moment();
    set = made->execute_script(settings);
  }
  if (set && mode == Mode::write && options.erase) set = made->execute_script("PRAGMA secure_delete=ON;");
  if (set && mode == Mode::read) set = made->execute_script("PRAGMA query_only=ON;");
  if (!set) return std::unexpected(SqlError{set.error().fault, fmt::format("{}: {}", path, set.error().message), {}});
  return made;
}

void SqliteConnection::start_clock() {
  statement_end_ = Clock::now() + statement_limit_;
  lock_end_ = Clock::now() + lock_limit_;
}

SqlError SqliteConnection::error(int code, std::string_view statement) {
  const std::string words = sqlite3_errmsg(handle_.get());
  retry_ = retry_of_sqlite(code);
  // A new connection sees the file as it is by then.
  static constexpr std::array of_the_file = {SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_NOTADB};
  if (std::ranges::find(of_the_file, code & 0xFF) != of_the_file.end()) usable_ = false;
  SqlError out{fault_of_sqlite(code), words, constraint_of_sqlite(code, words)};
  if ((code & 0xFF) == SQLITE_INTERRUPT) {
    out.message = fmt::format("the statement took longer than {} ms and was cancelled", statement_limit_.count());
  }
  out.message += fmt::format(" (in: {})", beginning(statement));
  return out;
}

bool SqliteConnection::only_reads(std::string_view statement) {
  start_clock();
  const auto prepared = prepare(statement);
  return !prepared || sqlite3_stmt_readonly((*prepared)->statement.get()) != 0;
}

Expected<SqliteConnection::Prepared*> SqliteConnection::prepare(std::string_view statement) {
  const std::string text(statement);
  if (const auto known = statements_.find(text); known != statements_.end()) return &known->second;
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const auto compile = [&] {
    return sqlite3_prepare_v3(handle_.get(), text.c_str(), static_cast<int>(text.size() + 1), SQLITE_PREPARE_PERSISTENT,
                              &raw, &rest);
  };
  int code = compile();
  if ((code & 0xFF) == SQLITE_ERROR) {
    // SQLite compiles against the schema that it knows, and does not always look whether another connection has
    // changed it before it calls a statement wrong. Reading makes it look.
    sqlite3_exec(handle_.get(), "SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr);
    code = compile();
  }
  Prepared made{Statement(raw), {}};
  if (code != SQLITE_OK) return std::unexpected(error(code, statement));
  const auto broken = [&](std::string_view why) {
    return std::unexpected(SqlError{Fault::broken, fmt::format("{} (in: {})", why, beginning(statement)), {}});
  };
  if (raw == nullptr) return broken("no statement");
  if (!sqlite_detail::blank(rest)) return broken("more than one statement");
  for (int i = 1; i <= sqlite3_bind_parameter_count(raw); ++i) {
    const std::size_t place = sqlite_detail::place_of(sqlite3_bind_parameter_name(raw, i));
    if (place == 0) return broken("a placeholder that is not $1, $2, …; write CAST($1 AS …) for a type");
    made.places.push_back(place);
  }
  if (statements_.size() >= sqlite_detail::most_prepared) statements_.clear();
  return &statements_.insert_or_assign(text, std::move(made)).first->second;
}

Expected<void> SqliteConnection::bind(Prepared& prepared, std::string_view text, const std::vector<Value>& values) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < prepared.places.size(); ++i) {
    const std::size_t place = prepared.places[i];
    used = std::max(used, place);
    if (place > values.size()) break;
    const int index = static_cast<int>(i) + 1;
    sqlite3_stmt* statement = prepared.statement.get();
    const Value& value = values[place - 1];
    int code = SQLITE_OK;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      code = sqlite3_bind_int64(statement, index, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      code = sqlite3_bind_double(statement, index, *real);
    } else if (const auto* words = std::get_if<std::string>(&value)) {
      // The values outlive the statement's run, so SQLite needs no copy.
      code = sqlite3_bind_text64(statement, index, words->data(), words->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      code = sqlite3_bind_null(statement, index);
    }
    if (code != SQLITE_OK) return std::unexpected(error(code, text));
  }
  if (used == values.size()) return {};
  return std::unexpected(SqlError{
      Fault::broken, fmt::format("{} values for {} placeholders (in: {})", values.size(), used, beginning(text)), {}});
}

Expected<Result> SqliteConnection::step(sqlite3_stmt* statement, std::string_view text) {
  const auto before = sqlite3_total_changes64(handle_.get());
  Result out;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const int columns = sqlite3_data_count(statement);  // stepping may have prepared it anew, for a changed table
    std::vector<Value> values;
    values.reserve(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) values.push_back(sqlite_detail::column_value(statement, column));
    out.rows.emplace_back(std::move(values));
  }
  if (code != SQLITE_DONE) return std::unexpected(error(code, text));
  if (sqlite3_total_changes64(handle_.get()) != before) out.affected = sqlite3_changes64(handle_.get());
  return out;
}

Expected<Result> SqliteConnection::execute(std::string_view statement, const std::vector<Value>& values) {
  start_clock();
  const auto prepared = TRY(prepare(statement));
  sqlite3_stmt* raw = prepared->statement.get();
  auto bound = bind(*prepared, statement, values);
  Expected<Result> out = bound ? step(raw, statement) : std::unexpected(bound.error());
  sqlite3_reset(raw);  // ends the read transaction of a statement by itself
  sqlite3_clear_bindings(raw);
  return out;
}

Expected<void> SqliteConnection::execute_script(std::string_view statements) {
  start_clock();
  const std::string text(statements);
  for (const char* rest = text.c_str(); !sqlite_detail::blank(rest);) {
    const char* begin = rest;
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), begin, -1, 0, &raw, &rest);
    const Statement statement(raw);
    if (code != SQLITE_OK) return std::unexpected(error(code, begin));
    if (raw == nullptr) continue;  // a comment
    (void)TRY(step(raw, std::string_view(begin, static_cast<std::size_t>(rest - begin))));
  }
  return {};
}

Expected<void> SqliteConnection::start_transaction(Mode mode) {
  TRY(execute(mode == Mode::read ? "BEGIN" : "BEGIN IMMEDIATE", {}));
  return {};
}

Expected<void> SqliteConnection::end_transaction() {
  TRY(execute("COMMIT", {}));
  return {};
}

bool SqliteConnection::undo_transaction() {
  // A full disk or an I/O error has undone it already.
  if (sqlite3_get_autocommit(handle_.get()) != 0) return true;
  statement_limit_ = Milliseconds(60'000);  // undoing must not run out of time
  if (!execute("ROLLBACK", {})) usable_ = false;
  return usable_;
}

}  // namespace stackgate::sql
