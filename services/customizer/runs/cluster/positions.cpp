#include "services/customizer/runs/cluster/positions.hpp"

#include <fmt/format.h>

#include "services/kit/json/read.hpp"

namespace stackgate::customizer {

Positions positions_of(const json::Value& summary) {
  Positions out;
  for (const json::Value& each : json::items(&summary, {"items"})) {
    const std::int64_t before = json::integer(&each, {"positionInLocalQueue"}, -1);
    for (const json::Value& owner : json::items(&each, {"metadata", "ownerReferences"}))
      if (before >= 0 && json::text(&owner, {"kind"}) == "Job")
        out.emplace(std::string(json::text(&owner, {"name"})), before);
  }
  return out;
}

std::string_view job_without_quota(const ObjectStore::Objects& own) {
  for (const KeptPtr& each : own) {
    if (each->kind != Kind::workload || each->ending) continue;
    bool reserved = false;
    for (const json::Value& condition : json::items(&each->object->root(), {"status", "conditions"}))
      reserved = reserved ||
                 (json::text(&condition, {"type"}) == "QuotaReserved" && json::text(&condition, {"status"}) == "True");
    if (!reserved) return each->of;
  }
  return {};
}

std::string position_text(std::int64_t before) {
  if (before == 0) return "; it is the next in the queue";
  return fmt::format("; {} {} before it in the queue", before, before == 1 ? "is" : "are");
}

}  // namespace stackgate::customizer
