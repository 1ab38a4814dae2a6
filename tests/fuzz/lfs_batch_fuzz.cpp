// The body of a large-file batch: any JSON gives a refusal or a plan with one decision for each object, and an answer
// that is JSON.
#include <cstdlib>

#include "services/datastore/lfs/batch.hpp"
#include "services/kit/json/parse.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  using namespace stackgate::datastore::lfs;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 32});
  if (!root) return 0;
  const auto request = parse_batch(*root);
  if (!request) {
    if (request.error().status < 400 || request.error().message.empty()) std::abort();
    return 0;
  }
  std::vector<Known> known;
  for (const std::string& oid : request->oids()) {
    if (!is_oid(oid)) std::abort();
    known.push_back({.oid = oid, .stat = {.size = oid[0] == 'a' ? 1U : 2U}, .linked = oid[1] == 'b'});
  }
  const Facts facts{
      .known = known, .limits = {.file = 1000, .repository = 5000, .total = UINT64_MAX}, .direct = size % 2 == 0};
  const Plan plan = decide(*request, facts);
  if (plan.objects.size() != request->objects.size()) std::abort();
  for (const Decision& decision : plan.objects)
    if ((decision.step == Step::refuse) != (decision.status >= 400)) std::abort();
  const std::string answer = render(*request, plan, std::vector<Actions>(plan.objects.size()));
  json::Document again;
  if (!json::parse(answer, again)) std::abort();
  return 0;
}
