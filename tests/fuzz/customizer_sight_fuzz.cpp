// Any JSON as the objects of a stage: whatever a scheduler writes is read, and its words stay within bounds.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/customizer/observe/sight.hpp"
#include "services/kit/json/parse.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::customizer;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  json::Document document;
  const auto root = json::parse(std::string_view(reinterpret_cast<const char*>(data), size), document);
  if (!root) return 0;
  for (const Stage stage : all_stages)
    for (const Scheduler scheduler : {Scheduler::volcano, Scheduler::kai, Scheduler::kueue}) {
      StageObjects objects{.id = "", .stage = stage, .scheduler = scheduler, .queue = "q"};
      objects.job = objects.model_job = objects.pod_group = objects.workload = &*root;
      objects.needs_model = true;
      objects.pods = objects.model_pods = objects.events = {&*root};
      const StageSight sight = sight_of(objects);
      if (sight.message.size() > 8'000) std::abort();
      if (sight.objects == StageSight::Objects::there && sight.state == State::failed && sight.message.empty())
        std::abort();
    }
  return 0;
}
