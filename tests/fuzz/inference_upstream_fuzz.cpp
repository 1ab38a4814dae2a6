// An engine's answers, and a client's body that goes on to it: what is read keeps its rules, the steps lead to a list
// that needs none, and of the body nothing but its two names changes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/inference/upstream/plan/routing.hpp"
#include "services/inference/upstream/plan/sync.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate::inference::upstream;
namespace json = stackgate::json;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void follow(std::vector<ListedModel> models) {
  const std::vector<OfferedAdapter> offered{{"a", 1, "/data/a~1"}, {"b", 2, "/data/b~1"}, {"b@1.0.0", 2, "/data/b~1"}};
  const auto wanted = wanted_adapters(offered, Kind::vllm, "/data", "/mnt");
  for (const Step& step : steps(wanted, models, {}, "/mnt")) {
    const auto gone =
        std::erase_if(models, [&](const auto& each) { return each.id == step.name && !each.parent.empty(); });
    require((gone > 0) == (step.action != Step::Action::load));
    if (step.action != Step::Action::unload) models.push_back({.id = step.name, .root = step.path, .parent = "base"});
  }
  require(steps(wanted, models, {}, "/mnt").empty());
}

void check_body(std::string_view body, const std::optional<AdapterMember>& adapter) {
  const auto out = rewrite(body, "other", adapter);
  if (!out) return;
  json::Document before, after;
  const auto old = json::parse(body, before), made = json::parse(*out, after);
  require(old && made && json::text_at(*made, "model") == "other" && made->find("peft_name") == nullptr);
  const auto is_ours = [&](std::string_view key) {
    return key == "model" || key == "peft_name" || (adapter && key == adapter->name);
  };
  std::size_t kept = 0;
  for (const json::Member& each : old->members()) {
    if (is_ours(each.key)) continue;
    const json::Value* const found = made->find(each.key);
    require(found != nullptr && json::equal(*found, each.value));
    ++kept;
  }
  require(made->members().size() == kept + 1 + (adapter && !adapter->value.empty() ? 1 : 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto models = read_models(text)) {
    require(base_of(*models).parent.empty() && !base_of(*models).id.empty());
    (void)kind_of(*models, text, text);
    follow(std::move(*models));
  }
  if (const auto list = read_numbered_adapters(text))
    for (const NumberedAdapter& each : *list) require(each.id >= 0 && !each.name.empty());
  (void)read_version(text);
  check_body(text, std::nullopt);
  check_body(text, by_number(3));
  check_body(text, by_name("x"));
  check_body(text, by_name(""));
  return 0;
}
