// Objects in a bucket. Nothing large is held: an upload holds one part, a download one stretch.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "services/kit/objects/s3_client.hpp"
#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

class S3Store final : public Store {
 public:
  /// The options must pass faults_of().
  explicit S3Store(const S3Options& options) : client_(std::make_shared<S3Client>(options)) {}

  Expected<Info> stat(std::string_view key) override;
  Expected<std::unique_ptr<Upload>> create(std::string_view key, std::optional<std::uint64_t> size) override;
  Expected<std::unique_ptr<Download>> open(std::string_view key, std::uint64_t offset) override;
  Expected<void> remove(std::string_view key) override;
  /// Keys that valid_key() refuses are somebody else's and passed over.
  Expected<void> list(std::string_view prefix, const std::function<bool(const Entry&)>& visit) override;
  Expected<void> check() override;
  std::optional<std::string> presigned_get(std::string_view key, const PresignOptions& options) override;
  std::optional<std::string> presigned_put(std::string_view key, const PresignOptions& options) override;
  /// `options.size` is not signed here: a part's length is the client's choice. Look at stat() after finish_parts().
  Expected<std::optional<PartUpload>> begin_parts(std::string_view key, unsigned parts,
                                                  const PresignOptions& options) override;
  Expected<void> finish_parts(std::string_view key, std::string_view id,
                              const std::vector<std::pair<unsigned, std::string>>& parts) override;
  Expected<void> drop_parts(std::string_view key, std::string_view id) override;
  std::optional<std::chrono::seconds> clock_skew() const override { return client_->clock_skew(); }

 private:
  std::shared_ptr<S3Client> client_;  // uploads and downloads share it
};

}  // namespace stackgate::objects
