// Configurations that were created through the API, in SQLite or PostgreSQL; all replicas of one database serve the
// same. A text here is whatever the caller makes of a configuration. Thread-safe; calls block for the database.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/sql/database.hpp"

namespace stackgate::guardrail {

struct KeptConfiguration {
  std::string name_space, name, id;  // id: another one of the same is refused
  std::string text;                  // UTF-8 without NUL
  std::int64_t version = 0;          // of this configuration; 1, 2, …: the database's
};

struct KeptLimits {
  std::int64_t count = 1'000;
  std::int64_t bytes = 32LL << 20U;  // of all texts
};

enum class Kept : std::uint8_t {
  done,
  exists,   // by this name or id
  missing,  // or another version of it
  full,     // beyond KeptLimits
};

class KeptConfigurations {
 public:
  /// `database` must outlive it and have conversation_migrations().
  explicit KeptConfigurations(sql::Database& database, KeptLimits limits = {}) : database_(database), limits_(limits) {}

  /// Differs after each change.
  sql::Expected<std::int64_t> revision();
  struct All {
    std::int64_t revision = 0;
    std::vector<KeptConfiguration> configurations{};  // in no order
  };
  sql::Expected<All> all();

  sql::Expected<Kept> add(const KeptConfiguration& configuration);
  /// Of this version.
  sql::Expected<Kept> replace(const KeptConfiguration& configuration);
  sql::Expected<Kept> remove(std::string_view name_space, std::string_view name);

  const KeptLimits& limits() const { return limits_; }

 private:
  sql::Expected<Kept> change(std::string_view statement, const std::vector<sql::Value>& values, Kept otherwise);

  sql::Database& database_;
  const KeptLimits limits_;
};

}  // namespace stackgate::guardrail
