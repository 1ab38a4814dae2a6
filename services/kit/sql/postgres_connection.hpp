// A PostgreSQL connection: transactions, prepared statements, values. Internal to kit/sql.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "services/kit/sql/connection.hpp"
#include "services/kit/sql/postgres_link.hpp"

namespace stackgate::sql {

class PostgresConnection final : public Connection {
 public:
  static Expected<std::unique_ptr<Connection>> open(const PostgresTarget& target, const Options& options,
                                                    Clock::time_point deadline);

  Engine engine() const override { return Engine::postgresql; }
  bool usable() const override { return link_->usable(); }
  bool still_good() override { return link_->still_good(); }
  bool only_reads(std::string_view statement) override;

 protected:
  Expected<Result> execute(std::string_view statement, const std::vector<Value>& values) override;
  Expected<void> execute_script(std::string_view statements) override;
  Expected<void> start_transaction(Mode mode) override;
  Expected<void> end_transaction() override;
  bool undo_transaction() override;
  Expected<void> limits_changed() override;

 private:
  PostgresConnection(std::unique_ptr<PostgresLink> link, const Options& options)
      : Connection(options),
        link_(std::move(link)),
        usual_limit_(options.statement),
        server_limit_(options.statement) {}
  /// What was sent is answered, or given up.
  Expected<ResultPointer> answer(bool sent, std::string_view statement);
  /// One simple-protocol round trip; the last result.
  Expected<ResultPointer> simple(const std::string& statements);
  Expected<ResultPointer> last_result(Expected<std::vector<ResultPointer>> results, std::string_view statement);
  SqlError error_of(const PGresult& result, std::string_view statement);
  /// The name of its prepared form; empty when it is to be sent as it stands.
  Expected<std::string> prepared(const std::string& statement);

  std::unique_ptr<PostgresLink> link_;
  std::unordered_map<std::string, std::string> statements_;  // text → name, or empty when seen once
  std::uint64_t last_name_ = 0;
  const Milliseconds usual_limit_;
  Milliseconds server_limit_;  // the statement_timeout that the server has
  bool reading_ = false;       // in a transaction that only reads
};

}  // namespace stackgate::sql
