// What S3 answers, read from its XML. Any bytes are safe: a document that is not what was expected is an error. No
// entity, DTD or link in it is followed. Pure.
#pragma once
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

struct ListPage {
  std::vector<Entry> entries;  // keys decoded; any bytes
  std::string next{};          // continuation token; empty at the end
};

/// ListObjectsV2 asked with encoding-type=url.
std::expected<ListPage, std::string> parse_list(std::string_view xml);

/// InitiateMultipartUpload's id.
std::expected<std::string, std::string> parse_upload_id(std::string_view xml);

struct S3Fault {
  std::string code;  // NoSuchKey, SignatureDoesNotMatch, …
  std::string message{};
};
/// Nothing when the document is no <Error>.
std::optional<S3Fault> parse_fault(std::string_view xml);

/// CompleteMultipartUpload's body: part numbers and ETags, escaped.
std::string complete_body(const std::vector<std::pair<unsigned, std::string>>& parts);

/// What a fault means here and what to change: by S3's code, or by status where a HEAD has no body. `what` begins the
/// sentence ("cannot read bucket/key"). Settings are named as the services spell them: --s3-bucket, S3_ACCESS_KEY.
StoreError explain(int status, const std::optional<S3Fault>& fault, std::string_view what, std::string_view bucket);

}  // namespace stackgate::objects
