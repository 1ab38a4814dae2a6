#include "services/kit/sql/database.hpp"

#include <algorithm>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/backoff.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/sql/pool.hpp"
#include "services/kit/sql/postgres_connection.hpp"
#include "services/kit/sql/sqlite_connection.hpp"

namespace stackgate::sql {
namespace database_detail {

constexpr int most_tries = 10, most_connections = 3;

constexpr BackoffLimits waits{.first = Milliseconds(5), .most = Milliseconds(200)};

void back_off(int tried) { std::this_thread::sleep_for(backoff_wait(waits, tried, Jitter::draw())); }

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

}  // namespace database_detail

struct Database::Impl {
  const Engine engine;
  const Options options;
  const std::unique_ptr<ConnectionPool> writers, readers;  // readers null: every connection does both

  ConnectionPool& for_reading() const { return readers ? *readers : *writers; }
  Expected<ConnectionPool::Lease> lease(ConnectionPool& pool) const;
  struct Try {
    Expected<void> outcome;
    Retry retry = Retry::no;
  };
  Try try_once(ConnectionPool& pool, Mode mode, const std::function<Expected<void>(Session&)>& work) const;
  Expected<void> try_often(ConnectionPool& pool, Mode mode, const std::function<Expected<void>(Session&)>& work) const;

  using Opened = std::expected<std::unique_ptr<Impl>, std::string>;
  static Opened open_sqlite(std::string path, const Options& options);
  static Opened open_postgres(std::string_view url, std::string_view password, const Options& options);
};

Database::Impl::Opened Database::Impl::open_sqlite(std::string path, const Options& options) {
  if (path.empty() || path == ":memory:" || path.contains('\0')) {
    return std::unexpected(std::string("the database URL names no file; write sqlite:PATH"));
  }
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return std::unexpected(fmt::format("the folder {} of the database does not exist", folder.string()));
  }
  const auto pool = [&](unsigned limit, Mode mode) {
    return std::make_unique<ConnectionPool>(
        limit, [path, mode, options](Clock::time_point) { return SqliteConnection::open(path, mode, options); });
  };
  return std::unique_ptr<Impl>(
      new Impl{Engine::sqlite, options, pool(1, Mode::write), pool(options.sessions, Mode::read)});
}

Database::Impl::Opened Database::Impl::open_postgres(std::string_view url, std::string_view password,
                                                     const Options& options) {
  PostgresTarget target{std::string(url), std::string(password)};
  if (const auto good = check_postgres_url(target.url); !good) {
    return std::unexpected(fmt::format("the database URL {}", good.error()));
  }
  if (password.contains('\0')) return std::unexpected(std::string("the database password holds a NUL"));
  auto pool = std::make_unique<ConnectionPool>(options.sessions, [target, options](Clock::time_point deadline) {
    return PostgresConnection::open(target, options, deadline);
  });
  return std::unique_ptr<Impl>(new Impl{Engine::postgresql, options, std::move(pool), nullptr});
}

std::expected<std::unique_ptr<Database>, std::string> Database::open(std::string_view url, std::string_view password,
                                                                     Options options) {
  Impl::Opened impl = std::unexpected(std::string("the database URL must begin with postgresql:// or sqlite:"));
  if (url.starts_with("sqlite:")) impl = Impl::open_sqlite(std::string(url.substr(7)), options);
  if (url.starts_with("postgresql://") || url.starts_with("postgres://"))
    impl = Impl::open_postgres(url, password, options);
  if (!impl) return std::unexpected(std::move(impl.error()));
  return std::unique_ptr<Database>(new Database(std::move(*impl)));
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

Engine Database::engine() const { return impl_->engine; }

Expected<ConnectionPool::Lease> Database::Impl::lease(ConnectionPool& pool) const {
  return pool.acquire(Clock::now() + options.wait, options.connect);
}

Expected<Result> Database::run(std::string_view statement, const std::vector<Value>& values) {
  for (int tried = 1;; ++tried) {
    auto connection = TRY(impl_->lease(impl_->for_reading()));
    const bool reads = connection->only_reads(statement);
    if (!reads && impl_->readers != nullptr) break;
    auto out = connection->run(statement, values);
    if (out || tried >= database_detail::most_tries) return out;
    switch (connection->retry()) {
      case Retry::no:
        return out;
      case Retry::lost:
        if (!reads) return out;
        [[fallthrough]];
      case Retry::reconnect:
        if (tried >= database_detail::most_connections) return out;
        break;
      case Retry::again:
        if (out.error().fault == Fault::busy) return out;  // it has waited as long as it may
        database_detail::back_off(tried);
        break;
    }
  }
  auto connection = TRY(impl_->lease(*impl_->writers));
  return connection->run(statement, values);
}

Expected<void> Database::empty_log() {
  if (impl_->engine != Engine::sqlite) return {};
  auto connection = TRY(impl_->lease(*impl_->writers));
  const Result done = TRY(connection->run("PRAGMA wal_checkpoint(TRUNCATE)", {}));
  if (done.rows.empty() || done.rows.front().integer(0) == 0) return {};
  return std::unexpected(SqlError{Fault::busy, "the write-ahead log is read by somebody", {}});
}

Database::Impl::Try Database::Impl::try_once(ConnectionPool& pool, Mode mode,
                                             const std::function<Expected<void>(Session&)>& work) const {
  auto connection = lease(pool);
  if (!connection) return {std::unexpected(connection.error())};
  if (auto begun = (*connection)->begin(mode); !begun) {
    // Nothing was done, however the connection ended.
    return {begun, (*connection)->retry() == Retry::lost ? Retry::reconnect : (*connection)->retry()};
  }
  database_detail::Transaction transaction(**connection);
  auto worked = work(**connection);
  // What the engine said decides, whatever the work made of it.
  if (const auto& failure = (*connection)->failure()) {
    return {worked ? std::unexpected(*failure) : std::move(worked), (*connection)->retry()};
  }
  if (!worked) return {std::move(worked)};
  auto committed = transaction.commit();
  return {committed, committed ? Retry::no : (*connection)->retry()};
}

Expected<void> Database::Impl::try_often(ConnectionPool& pool, Mode mode,
                                         const std::function<Expected<void>(Session&)>& work) const {
  int connections = 0;
  const auto end = Clock::now() + options.wait;
  for (int tried = 1;; ++tried) {
    Try now = try_once(pool, mode, work);
    if (now.outcome || now.retry == Retry::no || tried >= database_detail::most_tries) return now.outcome;
    if (now.retry != Retry::again && ++connections >= database_detail::most_connections) return now.outcome;
    if (now.retry == Retry::again && Clock::now() > end && tried > 1) return now.outcome;
    database_detail::back_off(tried);
  }
}

Expected<void> Database::transact(const std::function<Expected<void>(Session&)>& work) {
  return impl_->try_often(*impl_->writers, Mode::write, work);
}

Expected<void> Database::read(const std::function<Expected<void>(Session&)>& work) {
  return impl_->try_often(impl_->for_reading(), Mode::read, work);
}

Expected<void> Database::ping(Milliseconds limit) {
  const auto end = Clock::now() + limit;
  auto connection = TRY(impl_->for_reading().acquire(end, limit));
  const auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now());
  connection->set_limit(std::max(left, Milliseconds(1)), std::max(left, Milliseconds(1)));
  TRY(connection->run(impl_->engine == Engine::sqlite ? "SELECT count(*) FROM sqlite_schema" : "SELECT 1", {}));
  return {};
}

}  // namespace stackgate::sql
