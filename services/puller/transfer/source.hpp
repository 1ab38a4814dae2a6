// Where a model comes from: a server with the Hugging Face API, or a directory with a list of checksums. Blocks.
#pragma once
#include <string>
#include <vector>

#include "services/puller/plan/files.hpp"
#include "services/puller/plan/listing.hpp"
#include "services/puller/transfer/fetcher.hpp"

namespace stackgate::puller {

struct SourceSettings {
  std::string base;                          // of the API or of the directory, without a slash at its end
  Model model{};                             // empty repository: a directory
  bool is_dataset = false;                   // the repository is none of the models
  std::string checksum_list = "SHA256SUMS";  // in the directory
  bool is_directory() const { return model.repository.empty(); }
};

class Source {
 public:
  Source(SourceSettings settings, const Fetcher& fetcher) : settings_(std::move(settings)), fetcher_(fetcher) {}

  /// For the manifest and the log: an URL without secrets.
  std::string name() const;
  /// The commit that the revision is now, or "sha256:…" of the checksum list. First.
  Result<std::string> resolve();
  /// All files of that commit, checked.
  Result<std::vector<RemoteFile>> list() const;
  std::string url_of(const RemoteFile& file) const;
  /// The size of a file whose listing does not say it; stays unknown where the server does not either.
  Result<void> ask_size(RemoteFile& file) const;

 private:
  std::string api_url(std::string_view rest) const;
  Result<std::vector<RemoteFile>> tree() const;

  SourceSettings settings_;
  const Fetcher& fetcher_;
  std::string commit_, list_;  // known after resolve()
};

}  // namespace stackgate::puller
