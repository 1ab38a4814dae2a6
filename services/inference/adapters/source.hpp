// Where adapters come from: an entitystore or a directory. Calls block; thread-safe, but list() is one thread's.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "services/inference/adapters/catalogue/answers.hpp"

namespace stackgate::inference {

struct FetchFailure {
  std::string reason;    // one sentence, without secrets
  bool passing = false;  // trying again soon may help: no answer, a full disk
};

class AdapterSource {
 public:
  virtual ~AdapterSource() = default;
  /// What there is; nothing when it is what the last call gave. The error is a sentence.
  virtual std::expected<std::optional<AdapterList>, std::string> list(const std::stop_token& stop) = 0;
  /// Its two files into `directory`, which is there and empty, synced.
  virtual std::expected<void, FetchFailure> fetch(const AdapterRecord& record, const std::string& directory,
                                                  const std::stop_token& stop) = 0;
};

struct EntityStoreOptions {
  std::string url;              // "http://entitystore:8000", also with "/v1" behind it
  std::string authorization{};  // a header's value; goes to that origin alone
  std::string datastore_url{};  // where archives may lie that want credentials
  std::string datastore_authorization{};
  std::uint64_t largest_archive = std::uint64_t{4} << 30U;  // bytes, packed; unpacked four times as much
};
std::unique_ptr<AdapterSource> make_entity_store_source(EntityStoreOptions options);

/// Each folder of `directory` with an adapter_config.json is an adapter that is called as the folder. `at_folder`, for
/// tests, is called while it is listed: before each folder is looked at.
std::unique_ptr<AdapterSource> make_folder_source(std::string directory, std::function<void()> at_folder = {});

/// Copies the files of an adapter's folder, as fetch() does.
std::expected<void, FetchFailure> copy_adapter(const std::string& from, const std::string& directory);

}  // namespace stackgate::inference
