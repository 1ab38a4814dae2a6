// adapter_server SOURCE DATA_DIR CONFIG_JSON [NAME]: an AdapterStore without a server around it, for
// tests/e2e/storage/adapters.sh. A line in, a line out:
//   list            the adapters, as JSON
//   acquire NAME    "ID RANK SUM", the sum over its matrices; or "STATUS message"
//   hold NAME       the same, and keeps it until "release"
//   release         "released"
//   refresh         "asked"
//   gone            the keys of versions that went away, with blanks between
//   metrics         how many polls changed something, and how many nothing
// STACKGATE_FAIL_POINT=renamed dies there as if the power went.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/inference/adapters/store.hpp"
#include "services/kit/json/write.hpp"
#include "services/model/directory/config.hpp"

namespace {

using namespace stackgate;
using namespace stackgate::inference;
using Result = std::expected<ServedAdapterPtr, web::Failure>;

double sum_of(const model::AdapterWeights& weights) {
  double out = 0;
  for (const auto& layer : weights.layers)
    for (const model::LowRank& pair : layer)
      for (const std::vector<float>* each : {&pair.a, &pair.b})
        for (const float value : *each) out += value;
  return out;
}

std::string shown(const Result& result) {
  if (!result) return fmt::format("{} {}", result.error().status, result.error().message);
  return fmt::format("{} {} {:.6f}", (*result)->id, (*result)->rank, sum_of(*(*result)->weights));
}

Result acquire(AdapterStore& store, const std::string& name) {
  std::promise<Result> promise;
  store.acquire(name, [&](Result result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

std::string listed(const AdapterStore& store) {
  return json::object_text([&](json::Writer& w) {
    w.array("adapters", [&] {
      for (const AdapterInfo& each : store.list())
        w.object([&] {
          w.member("id", std::string_view(each.id));
          w.member("name", std::string_view(each.name));
          w.member("version", std::string_view(each.version));
          w.member("state", to_string(each.fitness));
          w.member("reason", std::string_view(each.reason));
          if (each.next_attempt_in) w.member("retry_in", static_cast<std::int64_t>(each.next_attempt_in->count()));
        });
    });
    w.array("names", [&] {
      for (const NamedAdapter& each : store.named()) w.value(std::string_view(each.name));
    });
  });
}

/// The lines of one family without its comments, on one line.
std::string family(const std::string& text, std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with(name)) out += fmt::format("{}{}", out.empty() ? "" : " ", line.substr(name.size()));
    at = end + 1;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::ifstream in(argv[3], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const model::Config base = model::read_config(text).config;
  AdapterStoreOptions options;
  options.source = argv[1];
  options.data_dir = argv[2];
  options.refresh_interval = std::chrono::seconds(1);
  options.base_names = options.base_models = {argc > 4 ? argv[4] : "base"};
  options.check = check_against(base, {});
  options.load = load_for(base, {});
  std::mutex mutex;
  std::vector<std::uint64_t> gone;
  options.gone = [&](std::uint64_t key) {
    const std::lock_guard lock(mutex);
    gone.push_back(key);
  };
  if (const char* at = std::getenv("STACKGATE_FAIL_POINT"); at != nullptr && *at != '\0')
    options.fail_point = [at = std::string(at)](std::string_view point) {
      if (point == at) std::raise(SIGKILL);
    };
  metrics::Registry registry;
  auto store = AdapterStore::open(std::move(options), registry);
  if (!store) {
    fmt::print(stderr, "{}\n", store.error());
    return 1;
  }
  std::vector<ServedAdapterPtr> held;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string verb = line.substr(0, line.find(' ')), name = line.substr(std::min(line.size(), verb.size() + 1));
    std::string answer = "?";
    if (verb == "list") answer = listed(**store);
    if (verb == "acquire") answer = shown(acquire(**store, name));
    if (verb == "hold") {
      Result result = acquire(**store, name);
      answer = shown(result);
      if (result) held.push_back(std::move(*result));
    }
    if (verb == "release") {
      held.clear();
      answer = "released";
    }
    if (verb == "refresh") {
      (*store)->refresh();
      answer = "asked";
    }
    if (verb == "gone") {
      const std::lock_guard lock(mutex);
      answer = fmt::format("{}", fmt::join(gone, " "));
    }
    if (verb == "metrics") answer = family(registry.render(), "stackgate_inference_adapter_polls_total");
    fmt::print("{}\n", answer);
    std::fflush(stdout);
  }
  return 0;
}
