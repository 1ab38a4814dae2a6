// Any bytes as an answer of S3: an error or values within their bounds; never a crash, and no list without end.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/kit/base/time.hpp"
#include "services/kit/objects/endpoint.hpp"
#include "services/kit/objects/s3_answers.hpp"

using namespace stackgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto page = objects::parse_list(bytes))
    for (const auto& entry : page->entries)
      if (entry.key.empty()) std::abort();
  if (const auto id = objects::parse_upload_id(bytes); id && (id->empty() || id->size() > 1'024)) std::abort();
  const auto fault = objects::parse_fault(bytes);
  if (fault && (fault->code.size() > 80 || fault->message.size() > 300)) std::abort();
  (void)objects::explain(400, fault, "cannot read", "bucket");
  (void)from_rfc3339(bytes);
  (void)from_http_date(bytes);
  (void)objects::valid_key(bytes);
  if (const auto endpoint = objects::parse_endpoint(bytes, true);
      endpoint && (endpoint->port < 1 || endpoint->port > 65'535))
    std::abort();
  return 0;
}
