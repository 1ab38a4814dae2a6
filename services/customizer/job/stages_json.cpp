#include "services/customizer/job/stages_json.hpp"

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace stages_json_detail {

struct Count {
  std::string_view key;
  std::uint32_t StageRecord::* member;
};
constexpr Count counts[] = {{"attempts", &StageRecord::attempts}, {"failures", &StageRecord::failures}};
struct Time {
  std::string_view key;
  Seconds StageRecord::* member;
};
constexpr Time times[] = {{"not_before", &StageRecord::not_before},
                          {"created_at", &StageRecord::created_at},
                          {"waiting_since", &StageRecord::waiting_since},
                          {"started_at", &StageRecord::started_at},
                          {"ended_at", &StageRecord::ended_at}};

}  // namespace stages_json_detail

using namespace stages_json_detail;

std::string stages_json(const std::array<StageRecord, 3>& stages) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const StageRecord& each : stages)
      w.object([&] {
        w.member("state", to_string(each.state));
        for (const Count& count : counts) w.member(count.key, each.*count.member);
        w.member("seen", each.seen);
        w.member("message", each.message);
        for (const Time& time : times) w.member(time.key, each.*time.member);
      });
  });
  return out;
}

std::array<StageRecord, 3> read_stages(std::string_view json) {
  std::array<StageRecord, 3> out{};
  json::Document document;
  const auto root = json::parse(json, document);
  if (!root || !root->is_array() || root->items().size() != out.size()) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const json::Value& from = root->items()[i];
    StageRecord& to = out.at(i);
    to.state = state_named(json::text(&from, {"state"})).value_or(State::created);
    for (const Count& each : counts) to.*each.member = static_cast<std::uint32_t>(json::integer(&from, {each.key}));
    to.seen = json::flag(&from, {"seen"});
    to.message = json::text(&from, {"message"});
    for (const Time& each : times) to.*each.member = json::integer(&from, {each.key});
  }
  return out;
}

}  // namespace stackgate::customizer
