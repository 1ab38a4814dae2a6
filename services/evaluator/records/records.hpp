// Evaluations, their samples, events and the answers that models gave, in SQLite or PostgreSQL. Times are the
// database's. Thread-safe; calls block for the database.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/records/evaluation.hpp"
#include "services/kit/sql/database.hpp"
#include "services/kit/sql/migrate.hpp"

namespace stackgate::evaluator {

/// With kit/jobs' table.
std::span<const sql::Migration> evaluation_migrations();

struct NewEvaluation {
  std::string name, framework, request, warnings;
  std::string secrets;    // JSON object of keys; removed with the evaluation's end
  std::string adapter{};  // JSON object, ""
  std::string traceparent{};
};

struct ListOptions {
  std::optional<State> state{};
  std::string framework{};  // "": all
  bool oldest_first = false;
  std::int64_t offset = 0, limit = 50;
};

class Records {
 public:
  /// `database` must outlive it and have the migrations.
  explicit Records(sql::Database& database) : database_(database) {}

  /// The id; nothing: the name is taken. With the event "created".
  sql::Expected<std::optional<std::string>> create(const NewEvaluation& wanted);
  sql::Expected<std::optional<Evaluation>> find(std::string_view name) const;
  sql::Expected<std::optional<Evaluation>> find_by_id(std::string_view id) const;
  sql::Expected<std::string> secrets(std::string_view id) const;
  /// Without results. `total`: of all pages.
  struct Listed {
    std::vector<Evaluation> rows{};
    std::int64_t total = 0;
  };
  sql::Expected<Listed> list(const ListOptions& options) const;
  /// Created, and not queued: its process ended in between.
  sql::Expected<std::vector<Evaluation>> not_queued() const;
  /// The data set's revision was pinned later.
  sql::Expected<void> set_request(std::string_view id, std::string_view request);
  /// What was created is pending then, with that event.
  sql::Expected<void> set_job(std::string_view id, std::string_view job);
  /// False: it is in a final state, being cancelled, or gone. `event`, where not empty, goes with it.
  sql::Expected<bool> move(std::string_view id, State to, std::string_view message, std::string_view event = {});
  /// Empty results leave those that are there.
  sql::Expected<bool> set_progress(std::string_view id, std::string_view progress, std::string_view results);
  /// To a final state, once, with its event: false when it is in one. The answers and keys are removed; results are
  /// replaced unless they are empty.
  sql::Expected<bool> finish(std::string_view id, State state, std::string_view message, std::string_view results);
  /// With everything that belongs to it; false: there is none.
  sql::Expected<bool> remove(std::string_view name);

  /// It uses this collection of the vector database from now on. Collections are shared by what they hold.
  sql::Expected<void> use_collection(std::string_view id, std::string_view collection);
  /// Collections whose last evaluation was removed; they are the caller's to drop, who puts back what it could not.
  sql::Expected<std::vector<std::string>> take_unused_collections();
  sql::Expected<void> put_back_collection(std::string_view collection);

  /// Answers by the digest of their question: what a run that starts again need not ask again.
  sql::Expected<std::map<std::string, std::string>> answers(std::string_view id,
                                                            std::span<const std::string> digests) const;
  sql::Expected<void> add_answers(std::string_view id, std::span<const std::pair<std::string, std::string>> answers);

  /// A sample that is there already is replaced.
  sql::Expected<void> add_samples(std::string_view id, std::span<const Sample> samples);
  /// Of one task, in order, behind the given number.
  sql::Expected<std::vector<Sample>> samples(std::string_view id, std::string_view task, std::int64_t after,
                                             std::int64_t limit) const;

  sql::Expected<void> add_event(std::string_view id, std::string_view message);
  /// Lines of a framework: they stand among the events, as Event::is_log.
  sql::Expected<void> add_log(std::string_view id, std::span<const std::string> lines);
  /// Behind the number `after`, in order; with lines of logs, or without.
  sql::Expected<std::vector<Event>> events(std::string_view id, std::int64_t after, std::int64_t limit,
                                           bool with_log = false) const;

 private:
  sql::Expected<std::optional<Evaluation>> find_where(std::string_view condition, std::string_view value) const;

  sql::Database& database_;
};

}  // namespace stackgate::evaluator
