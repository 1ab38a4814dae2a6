// The configurations as they are served at one moment. Immutable but for a cache; shared by all requests. Thread-safe.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "services/guardrail/configuration/configuration.hpp"

namespace stackgate::guardrail {

struct StoredConfiguration {
  ConfigurationPtr configuration{};  // that answers: of the files as they are, or the last that compiled; may be empty
  bool valid = false;                // the files as they are compile
  bool unread = false;               // some of them could not be read
  bool managed = false;              // not of the folder
  validate::Findings findings{};     // of the files as they are, warnings too
  std::string error{};               // their errors, a line each, at most ten; "" when valid
  std::shared_ptr<const std::vector<File>> files{};
};

struct FoundConfiguration {
  enum class Fault : std::uint8_t { none, unknown, broken };
  Fault fault = Fault::none;
  ConfigurationPtr configuration{};
  std::string id{};     // unknown, broken: which
  std::string error{};  // broken: why
};

class Snapshot {
 public:
  using ById = std::map<std::string, StoredConfiguration, std::less<>>;
  Snapshot(ById configurations, validate::Findings findings);

  const ById& configurations() const { return configurations_; }
  /// Of the folder: what was left out.
  const validate::Findings& findings() const { return findings_; }
  /// One, or several as one; these are compiled once. `ids` must not be empty.
  FoundConfiguration find(std::span<const std::string> ids) const;
  /// Whether all of them are: Configuration::is_quick().
  bool are_quick() const { return are_quick_; }
  /// For readiness: "" when all are valid.
  std::string problems() const;

 private:
  FoundConfiguration combined(std::span<const std::string> ids) const;

  const ById configurations_;
  const validate::Findings findings_;
  const bool are_quick_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, FoundConfiguration> combined_;  // ids, a line each
};

/// The errors among `findings`, a line each.
std::string error_lines(const validate::Findings& findings);

}  // namespace stackgate::guardrail
