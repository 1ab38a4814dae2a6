// Any JSON as each of the guardrail's bodies: what is read keeps its bounds, what goes upstream is JSON, what is
// refused says where, why and what to do.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/guardrail/api/limits.hpp"
#include "services/guardrail/api/managed_config.hpp"
#include "services/guardrail/api/request.hpp"
#include "services/guardrail/api/state.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/web/errors.hpp"

using namespace stackgate;
using namespace stackgate::guardrail;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_json(std::string_view text) {
  json::Document document;
  require(json::parse(text, document).has_value());
}

void check(const ChatRequest& request) {
  require(request.config_ids.size() <= most_configurations && !request.messages.empty());
  for (const std::string& id : request.config_ids) require(configuration_id_fault(id).empty());
  require(request.config_ids.empty() || request.inline_files.empty());
  require(request.include_usage <= request.stream);
  check_json(request.parameters);
  if (!request.options.llm_params.empty()) check_json(request.options.llm_params);
  check_json(upstream_messages({}, request.messages, "altered"));
  check_json(upstream_messages({}, request.messages, turn_parts(request.messages).user_message.value_or("")));
  const TurnParts parts = turn_parts(request.messages);
  require(parts.history.size() <= request.messages.size());
  const auto again = read_state(to_json(request.state));
  require(again.has_value() && to_json(*again) == to_json(request.state));
}

/// Whether it was read.
template <class Request>
bool judged(const std::expected<Request, validate::Findings>& read) {
  if (read) return true;
  require(!read.error().empty() && read.error().size() <= 300);
  for (const validate::Finding& each : read.error()) require(!each.problem.empty() && !each.fix.empty());
  (void)web::render(refuse(read.error()), web::Dialect::openai);
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return 0;
  if (const auto read = read_chat(*root); judged(read)) check(*read);
  if (const auto read = read_completion(*root); judged(read)) check(*read);
  if (const auto read = read_check(*root); judged(read)) check(read->chat);
  if (const auto read = read_managed_config(*root); judged(read)) {
    const std::string written = managed_config_json(*read);
    json::Document stored;
    const auto text_root = json::parse(written, stored);
    require(text_root.has_value());
    const auto again = stored_managed_config(*text_root);
    require(again.has_value() && managed_config_json(*again) == written);
    const auto replaced = replace_managed_config(*read, *root);
    require(replaced.has_value() && managed_config_json(*replaced) == written);
    if (const auto patched = patch_managed_config(*read, *root); judged(patched))
      check_json(managed_config_json(*patched));
  }
  return 0;
}
