// A Database over connections of either engine: which pool, how often, what is tried again. Internal to kit/sql.
#pragma once
#include <memory>

#include "services/kit/sql/pool.hpp"

namespace stackgate::sql {

class PooledDatabase final : public Database {
 public:
  /// `readers` null: every connection does both.
  PooledDatabase(Engine engine, Options options, std::unique_ptr<ConnectionPool> writers,
                 std::unique_ptr<ConnectionPool> readers)
      : engine_(engine), options_(options), writers_(std::move(writers)), readers_(std::move(readers)) {}

  Engine engine() const override { return engine_; }
  Expected<Result> run(std::string_view statement, const std::vector<Value>& values) override;
  Expected<void> transact(const std::function<Expected<void>(Session&)>& work) override;
  Expected<void> read(const std::function<Expected<void>(Session&)>& work) override;
  Expected<void> ping(Milliseconds limit) override;

 private:
  ConnectionPool& readers() const { return readers_ ? *readers_ : *writers_; }
  Expected<ConnectionPool::Lease> lease(ConnectionPool& pool);
  struct Try {
    Expected<void> outcome;
    Retry retry = Retry::no;
  };
  Try try_once(ConnectionPool& pool, Mode mode, const std::function<Expected<void>(Session&)>& work);
  Expected<void> try_often(ConnectionPool& pool, Mode mode, const std::function<Expected<void>(Session&)>& work);

  const Engine engine_;
  const Options options_;
  const std::unique_ptr<ConnectionPool> writers_, readers_;
};

}  // namespace stackgate::sql
