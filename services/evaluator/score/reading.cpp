#include "services/evaluator/score/reading.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/base/try.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::evaluator::scoring {
namespace reading_detail {

bool absent(const json::Value* value) { return value == nullptr || value->is_null(); }

Read<std::vector<std::string>> texts_of(const json::Value* value, const std::string& path) {
  if (value == nullptr || !value->is_array()) return wrong_type(value, path, "a list of texts");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < value->items().size(); ++i) {
    const json::Value& each = value->items()[i];
    if (!each.is_string()) return wrong_type(&each, fmt::format("{}[{}]", path, i), "a text");
    out.emplace_back(each.string());
  }
  return out;
}

}  // namespace reading_detail
using reading_detail::absent;
using reading_detail::texts_of;

std::unexpected<Fault> wrong_type(const json::Value* value, std::string path, std::string_view wanted) {
  return fault(std::move(path), value == nullptr
                                    ? fmt::format("is missing; write {}", wanted)
                                    : fmt::format("is {}; write {}", json::to_string(value->type()), wanted));
}

Read<void> check_known(const json::Value& given, std::string_view path, std::span<const std::string_view> known) {
  for (const json::Member& each : given.members()) {
    if (std::ranges::find(known, each.key) != known.end()) continue;
    const std::string_view near = validate::nearest(each.key, known);
    return fault(fmt::format("{}{}", path, each.key),
                 !near.empty()   ? fmt::format("is not known; did you mean \"{}\"?", near)
                 : known.empty() ? std::string("is not known; leave it out: there are none")
                                 : fmt::format("is not known; write one of {}", fmt::join(known, ", ")));
  }
  return {};
}

Read<bool> flag_param(const json::Value& params, std::string_view name) {
  const json::Value* found = params.find(name);
  if (absent(found)) return false;
  if (!found->is_boolean()) return wrong_type(found, fmt::format("params.{}", name), "true or false");
  return found->boolean();
}

Read<std::string> word_param(const json::Value& params, std::string_view name,
                             std::span<const std::string_view> words) {
  const json::Value* found = params.find(name);
  if (absent(found)) return std::string(words.front());
  if (std::ranges::find(words, found->string()) == words.end())
    return fault(fmt::format("params.{}", name),
                 fmt::format("is none of its words; write \"{}\"", fmt::join(words, "\" or \"")));
  return std::string(found->string());
}

Read<std::vector<std::string>> texts_param(const json::Value& params, std::string_view name) {
  const json::Value* found = params.find(name);
  if (absent(found)) return std::vector<std::string>{};
  return texts_of(found, fmt::format("params.{}", name));
}

Read<std::vector<std::uint32_t>> numbers_param(const json::Value& params, std::string_view name,
                                               std::vector<std::uint32_t> fallback) {
  const json::Value* found = params.find(name);
  if (absent(found)) return fallback;
  const std::string path = fmt::format("params.{}", name);
  const std::span<const json::Value> items = found->is_array() ? found->items() : std::span(found, 1);
  if (items.empty()) return fault(path, "is empty; write whole numbers from 1, such as [1, 10]");
  std::vector<std::uint32_t> out;
  for (const json::Value& each : items) {
    if (!each.is_integer() || each.integer() < 1 || each.integer() > 1'000'000)
      return fault(path, "has what is no whole number from 1 to 1000000; write, for example, [1, 10]");
    const auto k = static_cast<std::uint32_t>(each.integer());
    if (std::ranges::find(out, k) == out.end()) out.push_back(k);
  }
  return out;
}

std::string Item::path(std::string_view member) const { return fmt::format("items[{}].{}", number_, member); }
const json::Value* Item::find(std::string_view member) const {
  const json::Value* found = value_.find(member);
  return absent(found) ? nullptr : found;
}

Read<std::string_view> Item::text(std::string_view member) const {
  const json::Value* found = value_.find(member);
  if (found == nullptr || !found->is_string()) return wrong_type(found, path(member), "a text");
  return found->string();
}

Read<double> Item::number(std::string_view member) const {
  const json::Value* found = value_.find(member);
  if (found == nullptr || !found->is_number()) return wrong_type(found, path(member), "a number");
  return found->number();
}

Read<std::uint64_t> Item::count(std::string_view member) const {
  const json::Value* found = value_.find(member);
  if (found == nullptr || !found->is_integer()) return wrong_type(found, path(member), "a whole number from 0");
  if (found->integer() < 0 || found->integer() > 1'000'000'000)
    return fault(path(member), "is out of range; write a whole number from 0 to 1000000000");
  return static_cast<std::uint64_t>(found->integer());
}

Read<std::vector<std::string>> Item::texts(std::string_view member) const {
  auto out = TRY(texts_of(value_.find(member), path(member)));
  if (out.empty()) return fault(path(member), "is empty; write at least one");
  return out;
}

Read<std::vector<double>> Item::numbers(std::string_view member) const {
  const json::Value* found = value_.find(member);
  if (found == nullptr || !found->is_array()) return wrong_type(found, path(member), "a list of numbers");
  std::vector<double> out;
  for (std::size_t i = 0; i < found->items().size(); ++i) {
    const json::Value& each = found->items()[i];
    if (!each.is_number()) return wrong_type(&each, fmt::format("{}[{}]", path(member), i), "a number");
    out.push_back(each.number());
  }
  return out;
}

Read<Pair> read_pair(const Item& item) {
  Pair out;
  out.prediction = TRY(item.text("prediction"));
  if (item.find("references") == nullptr && item.find("reference") != nullptr)
    out.references.emplace_back(TRY(item.text("reference")));
  else
    out.references = TRY(item.texts("references"));
  return out;
}

}  // namespace stackgate::evaluator::scoring
