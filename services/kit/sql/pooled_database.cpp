#include "services/kit/sql/pooled_database.hpp"

#include <algorithm>
#include <random>
#include <thread>

namespace stackgate::sql {
namespace pooled_detail {

constexpr int most_tries = 10, most_connections = 3;

/// "Full jitter": anything up to 5, 10, 20 … 200 ms, so that those who met once do not meet again.
void back_off(int tried) {
  thread_local std::minstd_rand dice(std::random_device{}());
  const int most = std::min(200, 5 << std::min(tried, 6));
  std::this_thread::sleep_for(Milliseconds(std::uniform_int_distribution<>(0, most)(dice)));
}

/// Rolls back whatever way the work is left.
class Transaction {
 public:
  explicit Transaction(Connection& connection) : connection_(connection) {}
  ~Transaction() {
    if (!done_) connection_.roll_back();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Expected<void> commit() {
    auto out = connection_.commit();
    done_ = out.has_value();
    return out;
  }

 private:
  Connection& connection_;
  bool done_ = false;
};

}  // namespace pooled_detail

Expected<ConnectionPool::Lease> PooledDatabase::lease(ConnectionPool& pool) {
  return pool.acquire(Clock::now() + options_.wait, options_.connect);
}

Expected<Result> PooledDatabase::run(std::string_view statement, const std::vector<Value>& values) {
  for (int tried = 1;; ++tried) {
    auto connection = lease(readers());
    if (!connection) return std::unexpected(connection.error());
    const bool reads = (*connection)->only_reads(statement);
    if (!reads && readers_ != nullptr) break;
    auto out = (*connection)->run(statement, values);
    if (out || tried >= pooled_detail::most_tries) return out;
    switch ((*connection)->retry()) {
      case Retry::no:
        return out;
      case Retry::lost:
        if (!reads) return out;
        [[fallthrough]];
      case Retry::reconnect:
        if (tried >= pooled_detail::most_connections) return out;
        break;
      case Retry::again:
        if (out.error().fault == Fault::busy) return out;  // it has waited as long as it may
        pooled_detail::back_off(tried);
        break;
    }
  }
  auto connection = lease(*writers_);
  if (!connection) return std::unexpected(connection.error());
  return (*connection)->run(statement, values);
}

PooledDatabase::Try PooledDatabase::try_once(ConnectionPool& pool, Mode mode,
                                             const std::function<Expected<void>(Session&)>& work) {
  auto connection = lease(pool);
  if (!connection) return {std::unexpected(connection.error())};
  if (auto begun = (*connection)->begin(mode); !begun) {
    // Nothing was done, however the connection ended.
    return {begun, (*connection)->retry() == Retry::lost ? Retry::reconnect : (*connection)->retry()};
  }
  pooled_detail::Transaction transaction(**connection);
  auto worked = work(**connection);
  // What the engine said decides, whatever the work made of it.
  if (const auto& failure = (*connection)->failure()) {
    return {worked ? std::unexpected(*failure) : std::move(worked), (*connection)->retry()};
  }
  if (!worked) return {std::move(worked)};
  auto committed = transaction.commit();
  return {committed, committed ? Retry::no : (*connection)->retry()};
}

Expected<void> PooledDatabase::try_often(ConnectionPool& pool, Mode mode,
                                         const std::function<Expected<void>(Session&)>& work) {
  int connections = 0;
  const auto end = Clock::now() + options_.wait;
  for (int tried = 1;; ++tried) {
    Try now = try_once(pool, mode, work);
    if (now.outcome || now.retry == Retry::no || tried >= pooled_detail::most_tries) return now.outcome;
    if (now.retry != Retry::again && ++connections >= pooled_detail::most_connections) return now.outcome;
    if (now.retry == Retry::again && Clock::now() > end && tried > 1) return now.outcome;
    pooled_detail::back_off(tried);
  }
}

Expected<void> PooledDatabase::transact(const std::function<Expected<void>(Session&)>& work) {
  return try_often(*writers_, Mode::write, work);
}

Expected<void> PooledDatabase::read(const std::function<Expected<void>(Session&)>& work) {
  return try_often(readers(), Mode::read, work);
}

Expected<void> PooledDatabase::ping(Milliseconds limit) {
  const auto end = Clock::now() + limit;
  auto connection = readers().acquire(end, limit);
  if (!connection) return std::unexpected(connection.error());
  const auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now());
  (*connection)->set_limit(std::max(left, Milliseconds(1)), std::max(left, Milliseconds(1)));
  const auto out =
      (*connection)->run(engine_ == Engine::sqlite ? "SELECT count(*) FROM sqlite_schema" : "SELECT 1", {});
  if (!out) return std::unexpected(out.error());
  return {};
}

}  // namespace stackgate::sql
