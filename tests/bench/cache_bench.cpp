// What an indexed cache takes beside what it keeps, and how fast it finds: 5,000 entries of 1 KB, five to an owner,
// each naming one of 50 Secrets. Prints one JSON object per figure.
#include <string>

#include <fmt/format.h>
#include <malloc.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/kube/indexed_cache.hpp"
#include "tests/bench/figure.hpp"

namespace {

using namespace stackgate;

constexpr int entries = 5'000;
constexpr std::size_t payload = 1'000;

std::size_t heap_bytes() { return mallinfo2().uordblks; }

json::Value make(int i, json::Document& document, std::string& text) {
  text = fmt::format(
      R"({{"metadata":{{"name":"inference-{:04}-deployment","namespace":"models","uid":"7c1f7d2c-6a55-4a3e-9a3a-{:012}"}},"owner":"0b6dff1c-91a4-4f43-8d4e-{:012}","secret":"registry-{}"}})",
      i, i, i / 5, i % 50);
  (void)json::parse(text, document);
  return document.root;
}

std::string keep(const json::Value& object, kube::IndexKeys& keys) {
  keys.add(0, object.find("owner")->string());
  keys.add(1, object.find("secret")->string());
  return std::string(payload, 'x');
}

}  // namespace

int main() {
  std::string text;
  json::Document document;
  make(0, document, text);
  const std::size_t before_payload = heap_bytes();
  std::vector<std::string> plain;
  plain.reserve(entries);
  for (int i = 0; i < entries; ++i) plain.emplace_back(payload, 'x');
  const std::size_t alone = heap_bytes() - before_payload;

  const std::size_t before = heap_bytes();
  kube::IndexedCache<std::string> cache(2, keep);
  cache.relist_began();
  for (int i = 0; i < entries; ++i) cache.upsert(make(i, document, text));
  cache.relist_ended();
  const std::size_t beside = heap_bytes() - before - alone;
  bench::print({.name = "indexed_cache_bytes_per_entry",
                .value = static_cast<double>(beside) / entries,
                .unit = "bytes",
                .limit = 320,
                .text = "beside the payload; name, uid of the owner, a Secret's name"});

  std::size_t seen = 0;
  const std::string owner = fmt::format("0b6dff1c-91a4-4f43-8d4e-{:012}", 700);
  const double took = bench::microseconds([&] {
    cache.for_each_by(0, owner,
                      [&seen](std::string_view, std::string_view, const std::string& kept) { seen += kept.size(); });
  });
  if (seen == 0) return 1;
  bench::print({.name = "indexed_cache_find_by_owner",
                .value = took,
                .unit = "µs",
                .limit = 1,
                .text = "one owner's five entries of 5,000"});
  return bench::exit_status;
}
