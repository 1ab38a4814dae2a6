// An entitystore's answers, two lists after each other: what is read keeps the rules that directories and requests rely
// on, and a list with a fault takes nothing away.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/inference/adapters/catalogue/answers.hpp"
#include "services/inference/adapters/catalogue/catalogue.hpp"

using namespace stackgate::inference;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Catalogue& catalogue) {
  for (const auto& [id, entry] : catalogue.entries()) {
    require(is_adapter_id(id) && id == entry.record.id && is_adapter_name(entry.record.name));
    const CatalogueEntry* const found = catalogue.find(entry.record.name);
    require(entry.fitness == Fitness::refused ? !entry.reason.empty() : found != nullptr);
    require(found == nullptr || found->record.name == entry.record.name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto detail = read_adapter_detail(text, "a"))
    require(!detail->url.empty() && (detail->sha256.empty() || detail->sha256.size() == 64));
  Catalogue catalogue({"base"}, {"base"});
  const Catalogue::Time now{std::chrono::hours(1)};
  const std::size_t cut = text.find('\n');
  for (const std::string_view part : {text.substr(0, cut), cut == text.npos ? std::string_view{} : text.substr(cut)}) {
    const auto list = read_adapter_list(part, "source");
    if (!list) continue;
    require(list->records.size() <= most_adapters);
    const auto gone = catalogue.take(list->records, list->fault.empty());
    require(list->fault.empty() || gone.empty());
    check(catalogue);
    bool good = false;
    for (const std::string& id : catalogue.begin_due(now, 100)) {
      if (good)
        catalogue.succeeded(id, 1);
      else
        catalogue.failed(id, "why", now);
      good = !good;
    }
    check(catalogue);
  }
  return 0;
}
