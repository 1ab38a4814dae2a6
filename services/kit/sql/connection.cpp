#include "services/kit/sql/connection.hpp"

#include <fmt/format.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::sql {

Connection::Connection(const Options& options)
    : statement_limit_(options.statement),
      lock_limit_(options.wait),
      usual_statement_limit_(options.statement),
      usual_lock_limit_(options.wait) {}

Expected<Result> Connection::run(std::string_view statement, const std::vector<Value>& values) {
  if (failure_) return std::unexpected(*failure_);
  retry_ = Retry::no;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto* text = std::get_if<std::string>(&values[i]);
    if (text == nullptr) continue;
    if (auto problem = check_text(*text, i + 1)) {
      problem->message += fmt::format(" (in: {})", beginning(statement));
      if (in_transaction_) failure_ = *problem;
      return std::unexpected(*std::move(problem));
    }
  }
  auto result = execute(statement, values);
  if (!result && in_transaction_) failure_ = result.error();
  return result;
}

Expected<void> Connection::script(std::string_view statements) {
  if (failure_) return std::unexpected(*failure_);
  retry_ = Retry::no;
  auto done = execute_script(statements);
  if (!done && in_transaction_) failure_ = done.error();
  return done;
}

Expected<void> Connection::allow(Milliseconds limit) {
  if (failure_) return std::unexpected(*failure_);
  set_limit(limit, limit);
  auto done = limits_changed();
  if (!done) failure_ = done.error();
  return done;
}

Expected<void> Connection::begin(Mode mode) {
  failure_.reset();
  retry_ = Retry::no;
  auto done = start_transaction(mode);
  in_transaction_ = done.has_value();
  return done;
}

Expected<void> Connection::commit() {
  if (failure_) return std::unexpected(*failure_);
  retry_ = Retry::no;
  auto done = end_transaction();
  if (done) in_transaction_ = false;
  return done;
}

void Connection::roll_back() {
  const Retry kept = retry_;
  if (in_transaction_ && usable()) undo_transaction();
  in_transaction_ = false;
  failure_.reset();
  retry_ = kept;
}

void Connection::set_limit(Milliseconds statement, Milliseconds lock) {
  statement_limit_ = statement;
  lock_limit_ = lock;
}

void Connection::rest() { set_limit(usual_statement_limit_, usual_lock_limit_); }

std::optional<SqlError> check_text(std::string_view text, std::size_t position) {
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.front() == '\0') return SqlError{Fault::unfit, fmt::format("the value of ${} holds a NUL", position), {}};
    const std::size_t length = utf8::sequence_length(rest);
    if (length == 0) return SqlError{Fault::unfit, fmt::format("the value of ${} is no UTF-8 text", position), {}};
    rest.remove_prefix(length);
  }
  return std::nullopt;
}

std::string beginning(std::string_view statement) {
  std::string out;
  for (const char c : statement) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (space && (out.empty() || out.back() == ' ')) continue;
    if (out.size() >= 60) return out + "…";
    out += space ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace stackgate::sql
