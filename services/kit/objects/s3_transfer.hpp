// An object on its way to or from a bucket, and the calls both need.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/kit/objects/s3_client.hpp"

namespace stackgate::objects {

Expected<Info> s3_stat(S3Client& client, const std::string& key);
Expected<std::string> s3_begin_parts(S3Client& client, const std::string& key);
/// Also right when an earlier try got through and only its answer was lost; `size`, if known, is then held against what
/// is there.
Expected<void> s3_finish_parts(S3Client& client, const std::string& key, const std::string& id,
                               const std::vector<std::pair<unsigned, std::string>>& parts,
                               std::optional<std::uint64_t> size);
Expected<void> s3_drop_parts(S3Client& client, const std::string& key, const std::string& id);

/// Up to one part as a single PUT, more as an upload in parts, each sent when it is full.
Expected<std::unique_ptr<Upload>> start_s3_upload(std::shared_ptr<S3Client> client, std::string key,
                                                  std::optional<std::uint64_t> size);

/// Stretch by stretch with Range: a slow reader holds no connection that the server would close, and a broken one is
/// repeated from where it was.
Expected<std::unique_ptr<Download>> start_s3_download(std::shared_ptr<S3Client> client, std::string key,
                                                      std::uint64_t offset);

/// The size of the next part: 10,000 parts must do, and S3 takes no part but the last below 5 MiB. Pure.
std::uint64_t next_part_size(std::uint64_t configured, std::optional<std::uint64_t> size, unsigned parts_sent);

}  // namespace stackgate::objects
