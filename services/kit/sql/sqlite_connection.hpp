// A SQLite connection: statements that are kept prepared, a deadline for each, waiting for other writers. Internal.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <sqlite3.h>

#include "services/kit/base/freed.hpp"
#include "services/kit/sql/connection.hpp"

namespace stackgate::sql {

class SqliteConnection final : public Connection {
 public:
  /// Creates the file, readable for its owner alone, where there is none.
  static Expected<std::unique_ptr<Connection>> open(const std::string& path, Mode mode, const Options& options);

  Engine engine() const override { return Engine::sqlite; }
  bool usable() const override { return usable_; }
  bool still_good() override { return usable_; }
  bool only_reads(std::string_view statement) override;

 protected:
  Expected<Result> execute(std::string_view statement, const std::vector<Value>& values) override;
  Expected<void> execute_script(std::string_view statements) override;
  Expected<void> start_transaction(Mode mode) override;
  Expected<void> end_transaction() override;
  bool undo_transaction() override;
  Expected<void> limits_changed() override { return {}; }

 private:
  using Handle = std::unique_ptr<sqlite3, Freed<sqlite3_close_v2>>;
  using Statement = std::unique_ptr<sqlite3_stmt, Freed<sqlite3_finalize>>;
  struct Prepared {
    Statement statement;
    std::vector<std::size_t> places;  // of the parameters in SQLite's order: 1 for $1
  };

  SqliteConnection(Handle handle, const Options& options);
  Expected<Prepared*> prepare(std::string_view statement);
  Expected<void> bind(Prepared& prepared, std::string_view text, const std::vector<Value>& values);
  Expected<Result> step(sqlite3_stmt* statement, std::string_view text);
  SqlError error(int code, std::string_view statement);
  void start_clock();

  Handle handle_;
  std::unordered_map<std::string, Prepared> statements_;
  Clock::time_point statement_end_, lock_end_;
  bool usable_ = true;
};

}  // namespace stackgate::sql
