#include "services/kit/sql/postgres_connection.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/sql/error_codes.hpp"

namespace stackgate::sql {
namespace postgres_detail {

constexpr std::size_t most_prepared = 256;
constexpr Milliseconds server_lead{200}, cancel_grace{500};

/// Type OIDs of pg_type.dat, which never change.
enum : Oid {
  bool_oid = 16,
  int8_oid = 20,
  int2_oid = 21,
  int4_oid = 23,
  oid_oid = 26,
  float4_oid = 700,
  float8_oid = 701,
  numeric_oid = 1700
};

Value value_of(Oid type, std::string_view text) {
  switch (type) {
    case bool_oid:
      return std::int64_t{text == "t" ? 1 : 0};
    case int2_oid:
    case int4_oid:
    case int8_oid:
    case oid_oid:
    case numeric_oid:  // sum(bigint) is one
      if (const auto integer = to_number<std::int64_t>(text)) return *integer;
      [[fallthrough]];
    case float4_oid:
    case float8_oid:
      if (const auto real = to_number<double>(text)) return *real;
      break;
    default:
      break;
  }
  return std::string(text);
}

Result result_of(const PGresult* raw) {
  Result out;
  if (!std::string_view(PQcmdStatus(const_cast<PGresult*>(raw))).starts_with("SELECT")) {
    out.affected = to_number<std::int64_t>(PQcmdTuples(const_cast<PGresult*>(raw))).value_or(0);
  }
  const int rows = PQntuples(raw), columns = PQnfields(raw);
  out.rows.reserve(static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    std::vector<Value> values;
    values.reserve(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) {
      if (PQgetisnull(raw, row, column) == 1) {
        values.emplace_back(nullptr);
      } else {
        values.push_back(value_of(PQftype(raw, column), {PQgetvalue(raw, row, column),
                                                         static_cast<std::size_t>(PQgetlength(raw, row, column))}));
      }
    }
    out.rows.emplace_back(std::move(values));
  }
  return out;
}

/// Values in libpq's text format. `texts` owns what had to be written.
std::vector<const char*> parameters(const std::vector<Value>& values, std::vector<std::string>& texts) {
  texts.resize(values.size());
  std::vector<const char*> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const auto* integer = std::get_if<std::int64_t>(&values[i])) texts[i] = std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&values[i])) texts[i] = fmt::format("{}", *real);
    if (const auto* text = std::get_if<std::string>(&values[i])) {
      out.push_back(text->c_str());
    } else {
      out.push_back(std::holds_alternative<std::nullptr_t>(values[i]) ? nullptr : texts[i].c_str());
    }
  }
  return out;
}

std::string field(const PGresult& result, int code) {
  const char* text = PQresultErrorField(&result, code);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace postgres_detail

Expected<std::unique_ptr<Connection>> PostgresConnection::open(const PostgresTarget& target, const Options& options,
                                                               Clock::time_point deadline) {
  auto link = TRY(PostgresLink::connect(target, deadline));
  std::unique_ptr<PostgresConnection> made(new PostgresConnection(std::move(link), options));
  // The server's own limits hold too: they end statements whose client died, and locks are waited for less long.
  TRY(made->simple(
      fmt::format("SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = 60000",
                  options.statement.count(), options.wait.count())));
  return made;
}

bool PostgresConnection::only_reads(std::string_view statement) {
  // WITH may hold an INSERT, and SELECT may call a function that writes: ours do not.
  const auto first = statement.find_first_not_of(" \n\t(");
  if (first == std::string_view::npos) return true;
  std::string word(statement.substr(first, 6));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return word == "SELECT" || word == "VALUES";
}

SqlError PostgresConnection::error_of(const PGresult& result, std::string_view statement) {
  using postgres_detail::field;
  const std::string state = field(result, PG_DIAG_SQLSTATE);
  if (state == "25006" && reading_) {
    retry_ = Retry::no;
    return {Fault::broken,
            fmt::format("a statement that writes, where only reading is (in: {})", beginning(statement)),
            {}};
  }
  retry_ = retry_of_sqlstate(state);
  if (retry_ == Retry::reconnect || retry_ == Retry::lost) link_->give_up();
  if (!usable() && retry_ == Retry::no) retry_ = Retry::lost;
  const std::string words = field(result, PG_DIAG_MESSAGE_PRIMARY);
  SqlError out{state.empty() && !usable() ? Fault::away : fault_of_sqlstate(state), {}, {}};
  if (state == "57014") {
    out.message = fmt::format("the statement took longer than {} ms and was cancelled", statement_limit_.count());
  } else {
    out.message = words.empty() ? "PostgreSQL failed" : std::string(without_values(state, words));
  }
  out.message += fmt::format(" (in: {})", beginning(statement));
  if (!state.empty()) out.message += fmt::format(" [{}]", state);
  out.constraint = field(result, PG_DIAG_CONSTRAINT_NAME);
  return out;
}

Expected<ResultPointer> PostgresConnection::last_result(Expected<std::vector<ResultPointer>> results,
                                                        std::string_view statement) {
  if (!results) {
    // A connection that broke took the transaction with it; one that did not answer in time is not tried again.
    SqlError error = results.error();
    if (PQstatus(link_->raw()) != CONNECTION_OK) {
      // Told to go before it came to our statement, or in its midst: undone in either case.
      const bool undone =
          !link_->was_sent() || link_->farewell() == "57P01" || error.message.starts_with("FATAL:  57P01");
      retry_ = undone ? Retry::reconnect : Retry::lost;
    }
    error.message += fmt::format(" (in: {})", beginning(statement));
    return std::unexpected(std::move(error));
  }
  for (auto& result : *results) {
    switch (PQresultStatus(result.get())) {
      case PGRES_COMMAND_OK:
      case PGRES_TUPLES_OK:
      case PGRES_EMPTY_QUERY:
        break;
      case PGRES_COPY_IN:
      case PGRES_COPY_OUT:
      case PGRES_COPY_BOTH:
        link_->give_up();
        return std::unexpected(SqlError{Fault::broken, "COPY is not supported here", {}});
      default:
        return std::unexpected(error_of(*result, statement));
    }
  }
  if (results->empty()) return std::unexpected(SqlError{Fault::broken, "PostgreSQL answered nothing", {}});
  return std::move(results->back());
}

Expected<ResultPointer> PostgresConnection::answer(bool sent, std::string_view statement) {
  using namespace postgres_detail;
  // Where the server keeps the same time it cancels by itself, and the connection stays good; ours is for a server that
  // hangs. A shorter limit is ours alone and is kept to the letter.
  const bool same = statement_limit_ >= server_limit_;
  return last_result(link_->collect(sent, same ? statement_limit_ + server_lead : statement_limit_,
                                    same ? cancel_grace : Milliseconds(0)),
                     statement);
}

Expected<ResultPointer> PostgresConnection::simple(const std::string& statements) {
  const bool sent = PQsendQuery(link_->raw(), statements.c_str()) == 1;
  return answer(sent, statements);
}

Expected<std::string> PostgresConnection::prepared(const std::string& statement) {
  const auto [entry, first_time] = statements_.try_emplace(statement);
  if (first_time && statements_.size() > postgres_detail::most_prepared) {
    // Only a service that writes values or lists into its statements comes here; start again.
    TRY(simple("DEALLOCATE ALL"));
    statements_.clear();
    return std::string();
  }
  if (first_time || !entry->second.empty()) return entry->second;
  std::string name = fmt::format("s{}", ++last_name_);
  const bool sent = PQsendPrepare(link_->raw(), name.c_str(), statement.c_str(), 0, nullptr) == 1;
  TRY(answer(sent, statement));
  entry->second = name;
  return name;
}

Expected<Result> PostgresConnection::execute(std::string_view statement, const std::vector<Value>& values) {
  const std::string text(statement);
  const auto name = prepared(text);
  if (!name) {
    if (retry_ == Retry::lost) retry_ = Retry::reconnect;  // only preparing was tried
    return std::unexpected(name.error());
  }
  std::vector<std::string> texts;
  const auto given = postgres_detail::parameters(values, texts);
  const int count = static_cast<int>(given.size());
  const bool sent =
      name->empty()
          ? PQsendQueryParams(link_->raw(), text.c_str(), count, nullptr, given.data(), nullptr, nullptr, 0) == 1
          : PQsendQueryPrepared(link_->raw(), name->c_str(), count, given.data(), nullptr, nullptr, 0) == 1;
  auto done = TRY(answer(sent, statement));
  return postgres_detail::result_of(done.get());
}

Expected<void> PostgresConnection::execute_script(std::string_view statements) {
  TRY(simple(std::string(statements)));
  return {};
}

Expected<void> PostgresConnection::start_transaction(Mode mode) {
  reading_ = mode == Mode::read;
  TRY(simple(mode == Mode::read ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                                : "BEGIN ISOLATION LEVEL SERIALIZABLE"));
  return {};
}

Expected<void> PostgresConnection::end_transaction() {
  auto done = simple("COMMIT");
  if (done && std::strcmp(PQcmdStatus(done->get()), "COMMIT") != 0) {
    return std::unexpected(SqlError{Fault::broken, "the transaction had failed and was rolled back", {}});
  }
  reading_ = false;
  server_limit_ = usual_limit_;  // SET LOCAL ends with the transaction
  if (done) return {};
  SqlError error = done.error();
  if (error.fault == Fault::away && link_->was_sent()) {
    retry_ = Retry::no;
    link_->give_up();
    error.message += "; whether the transaction was committed is not known";
  }
  return std::unexpected(std::move(error));
}

bool PostgresConnection::undo_transaction() {
  reading_ = false;
  server_limit_ = usual_limit_;  // SET LOCAL ends with the transaction
  if (!simple("ROLLBACK")) link_->give_up();
  return usable();
}

Expected<void> PostgresConnection::limits_changed() {
  server_limit_ = statement_limit_;
  return execute_script(fmt::format("SET LOCAL statement_timeout = {}; SET LOCAL lock_timeout = {}",
                                    statement_limit_.count(), lock_limit_.count()));
}

}  // namespace stackgate::sql
