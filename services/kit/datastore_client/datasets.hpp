// Data sets read over Hugging Face's API: this project's datastore, or any other hub. Thread-safe; calls block.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/datastore_client/datastore.hpp"
#include "services/kit/datastore_client/wire.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::datastore_client {

struct DatasetOptions {
  std::string url;                                   // "http://datastore:8000/v1/hf"
  std::string username{}, password{};                // empty: anonymous
  std::string token{};                               // instead: sent as Bearer
  std::chrono::milliseconds patience{10'000};        // for a small call with its repetitions
  std::chrono::milliseconds transfer_pause{60'000};  // without a byte of a file
  std::function<bool()> give_up{};                   // asked a few times a second: true ends the call
};

class Datasets {
 public:
  explicit Datasets(DatasetOptions options);

  /// The commit that `revision` ("" is main) stands for now; nothing: no such repository or revision, or none that we
  /// may see.
  FromDatastore<std::optional<std::string>> pin(std::string_view repository, std::string_view revision) const;
  FromDatastore<std::vector<wire::TreeFile>> files(std::string_view repository, std::string_view commit) const;
  /// All of a small file; an error for one that is larger.
  FromDatastore<std::string> read(std::string_view repository, std::string_view commit, std::string_view path,
                                  std::uint64_t largest) const;
  /// Its lines without their ends, until `each` is false: the rest is not fetched. An empty line is one, too; what
  /// follows the last line end is one unless it is empty. A line longer than `longest` is an error.
  FromDatastore<void> read_lines(std::string_view repository, std::string_view commit, std::string_view path,
                                 std::size_t longest, const std::function<bool(std::string_view)>& each) const;
  /// Its last bytes, at most so many, by a range; all of a shorter one. Of an empty one an error.
  FromDatastore<std::string> read_end(std::string_view repository, std::string_view commit, std::string_view path,
                                      std::uint64_t most) const;

 private:
  FromDatastore<http_client::Response> ask(std::string url, std::chrono::milliseconds whole) const;
  /// Follows one redirect, without credentials where it leads away.
  FromDatastore<http_client::Answer> open(std::string_view repository, std::string_view commit, std::string_view path,
                                          std::string_view range = {}) const;

  DatasetOptions options_;
  std::string base_, authorization_;
  http_client::Client client_;
};

}  // namespace stackgate::datastore_client
