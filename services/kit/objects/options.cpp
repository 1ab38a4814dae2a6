#include "services/kit/objects/options.hpp"

#include <algorithm>

#include "services/kit/objects/directory_store.hpp"
#include "services/kit/objects/endpoint.hpp"
#include "services/kit/objects/s3_store.hpp"

namespace stackgate::objects {
namespace options_detail {

// Part of a header and of a URL, so no spaces, slashes or control characters.
bool plain_word(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return c > ' ' && c <= '~' && c != '/' && c != ','; });
}

void check_s3(const S3Options& s3, std::vector<std::string>& faults) {
  if (auto endpoint = parse_endpoint(s3.endpoint, s3.ssl); !endpoint) faults.push_back("endpoint: " + endpoint.error());
  if (!s3.public_endpoint.empty())
    if (auto endpoint = parse_endpoint(s3.public_endpoint, s3.ssl); !endpoint)
      faults.push_back("public endpoint: " + endpoint.error());
  if (s3.bucket.empty())
    faults.emplace_back("bucket: is missing");
  else if (!valid_bucket(s3.bucket, s3.path_style))
    faults.push_back("bucket: \"" + s3.bucket + "\" is no bucket name: 3 to 63 small letters, digits, \"-\" and \".\"");
  if (s3.region.empty() || !plain_word(s3.region))
    faults.emplace_back("region: must be one word such as us-east-1 (for Ceph, whatever its zone group accepts)");
  if (s3.access_key.empty() || !plain_word(s3.access_key))
    faults.emplace_back("access key: is missing, or holds a space, slash or comma");
  if (s3.secret_key.empty()) faults.emplace_back("secret key: is missing");
  if (s3.part_size < 5ULL << 20U || s3.part_size > 512ULL << 20U)
    faults.emplace_back("part size: must lie between 5 MiB (S3's smallest part) and 512 MiB");
}

}  // namespace options_detail

std::vector<std::string> faults_of(const Options& options) {
  std::vector<std::string> faults;
  if (!options.s3.endpoint.empty())
    options_detail::check_s3(options.s3, faults);
  else if (options.directory.empty())
    faults.emplace_back("directory: give a directory, or an S3 endpoint");
  return faults;
}

Expected<std::unique_ptr<Store>> open_store(const Options& options) {
  if (const auto faults = faults_of(options); !faults.empty()) {
    std::string message = "the object store's settings are wrong";
    for (const std::string& fault : faults) message += "; " + fault;
    return std::unexpected(StoreError{Fault::refused, std::move(message)});
  }
  if (!options.s3.endpoint.empty()) return std::make_unique<S3Store>(options.s3);
  return DirectoryStore::open_at(options.directory, options.stale_after);
}

}  // namespace stackgate::objects
