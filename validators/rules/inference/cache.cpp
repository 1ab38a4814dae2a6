#include <fmt/format.h>

#include "validators/grammar/host.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/inference/cache_source.hpp"
#include "validators/rules/kinds.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t longest_entry = 80;  // of what is quoted; the grammar stops at 20 faults

void check_proxy(Context& context, const Field& proxy) {
  if (proxy.absent()) return;
  check_endpoint(context, proxy["httpProxy"]);
  check_endpoint(context, proxy["httpsProxy"]);
  check_object_name(context, proxy["caConfigMap"]);
  const Field list = proxy["noProxy"];
  if (!list.present() || !list.value()->is_string()) return;
  const std::string_view text = list.value()->string();
  for (grammar::TokenProblem& each : grammar::check_no_proxy(text))
    context.report(
        rule::no_proxy, list,
        fmt::format("\"{}\" {}", text.substr(each.offset, std::min(each.length, longest_entry)), each.problem.problem),
        std::move(each.problem.fix));
}

void check_owner(Context& context, const Field& id, const char* what) {
  if (id.present() && id.integer() == 0)
    context.report(rule::cache_identity_root, id,
                   fmt::format("{} 0 is root's, and the download does not run as root", what),
                   "write another number, for example 1000, or take it out");
}

}  // namespace

void check_inference_cache(Context& context, Field object) {
  const Field spec = object["spec"];
  check_cache_source(context, spec["source"]);
  const Field pvc = spec["storage"]["pvc"];
  check_claim(context, pvc);
  if (const Field mode = pvc["volumeAccessMode"]; mode.text() == "ReadOnlyMany")
    context.report(rule::cache_volume_read_only, mode, "nothing can be downloaded to a volume that is read only",
                   "write ReadWriteMany, or ReadWriteOnce for servers on one node");
  check_proxy(context, spec["proxy"]);
  check_owner(context, spec["userID"], "user");
  check_owner(context, spec["groupID"], "group");
  check_resources(context, spec["resources"]);
  check_tolerations(context, spec["tolerations"]);
  check_labels(context, spec["nodeSelector"]);
}

}  // namespace stackgate::validate
