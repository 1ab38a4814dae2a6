// The work queue: 100,000 additions of 1,000 keys, as watches make them, and the way of a key through it.
#include <string>
#include <vector>

#include "services/kit/kube/work_queue.hpp"
#include "tests/bench/figure.hpp"

namespace {

using stackgate::bench::microseconds;
using stackgate::bench::print;

constexpr std::size_t keys = 1'000, adds = 100'000;

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < keys; ++i)
    out.push_back("InferenceService/team-" + std::to_string(i % 10) + "/llm-" + std::to_string(i));
  return out;
}

}  // namespace

int main() {
  const auto key = names();
  stackgate::kube::WorkQueue<std::string> queue;
  const double add = microseconds([&] {
    for (std::size_t i = 0; i < adds; ++i) queue.add(key[i % keys]);
  });
  print(
      {.name = "queue_add", .value = add * 1e3 / adds, .unit = "ns", .limit = 250, .text = "100k adds of 1,000 keys"});
  for (std::size_t i = 0; i < keys; ++i) queue.done(queue.get()->key);
  const double way = microseconds([&] {
    for (const std::string& each : key) queue.add(each);
    for (std::size_t i = 0; i < keys; ++i) queue.done(queue.get()->key);
  });
  print({.name = "queue_add_get_done", .value = way * 1e3 / keys, .unit = "ns", .limit = 1'000, .text = "each key"});
  const double retry = microseconds([&] {
    for (const std::string& each : key) queue.add_after(each, std::chrono::hours(1));
  });
  print({.name = "queue_add_after",
         .value = retry * 1e3 / keys,
         .unit = "ns",
         .limit = 1'000,
         .text = "1,000 keys are delayed"});
  return stackgate::bench::exit_status;
}
