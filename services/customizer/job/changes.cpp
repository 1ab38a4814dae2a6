#include "services/customizer/job/changes.hpp"

#include <fmt/format.h>

namespace stackgate::customizer {
namespace changes_detail {

/// NeMo has a handler of entities for what is fetched and for what is stored.
constexpr std::array<std::string_view, 3> subjects = {"EntityHandler_0_", "TrainingJob", "EntityHandler_1_"};

std::string_view word_of(State state) {
  constexpr std::array<std::string_view, 7> words = {"Waiting",   "Created", "Running",  "Cancelling",
                                                     "Completed", "Failed",  "Cancelled"};
  return words.at(static_cast<std::size_t>(state));
}

void of_stage(std::vector<Change>& out, std::string_view subject, const StageRecord& before, const StageRecord& after) {
  const bool again = before.attempts != after.attempts;
  if (before.state == after.state && !again) {
    if (!after.message.empty() && before.message != after.message)
      out.push_back({fmt::format("{}{}", subject, after.state == State::pending ? "Pending" : word_of(after.state)),
                     after.message});
    return;
  }
  // A step may begin an attempt and see nothing else of it.
  const std::string detail = again && after.attempts > 1 ? fmt::format("attempt {}", after.attempts) : after.message;
  out.push_back({fmt::format("{}{}", subject, word_of(after.state)), detail});
}

}  // namespace changes_detail

std::vector<Change> changes_of(const Customization& before, const Customization& after) {
  using namespace changes_detail;
  std::vector<Change> out;
  for (const Stage each : all_stages)
    of_stage(out, subjects.at(static_cast<std::size_t>(each)), before.stage(each), after.stage(each));
  if (before.state != after.state && (is_final(after.state) || after.state == State::cancelling))
    out.push_back({std::string(to_string(after.state)), after.message});
  return out;
}

}  // namespace stackgate::customizer
