#include "services/kit/jinja/sorting.hpp"

#include <algorithm>
#include <numeric>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

Result small(Machine& machine, Value value, bool case_sensitive) {
  if (case_sensitive || value.text() == nullptr) return value;
  TRY(machine.spend_on(value.bytes().size() * 8));
  return machine.text(lower(value.bytes()));
}

}  // namespace

Result sort_key(Machine& machine, const Value& item, const Value* attribute, bool case_sensitive) {
  TRY(machine.spend());
  if (attribute == nullptr || attribute->is_none()) return small(machine, item, case_sensitive);
  if (attribute->text() == nullptr || !attribute->bytes().contains(',')) {
    Value part = TRY(path_of(machine, item, *attribute));
    return small(machine, std::move(part), case_sensitive);
  }
  std::vector<Value> keys;
  for (std::string_view rest = attribute->bytes();;) {
    const std::size_t comma = rest.find(',');
    Value part = TRY(path_of(machine, item, Value(rest.substr(0, comma))));
    keys.push_back(TRY(small(machine, std::move(part), case_sensitive)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return machine.list(std::move(keys));
}

// Merge sort, because a comparison may end in a fault.
std::expected<std::vector<std::size_t>, Fault> sorted_positions(Machine& machine, const std::vector<Value>& keys,
                                                                bool reverse) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> merged(keys.size());
  for (std::size_t width = 1; width < keys.size(); width *= 2) {
    for (std::size_t begin = 0; begin < keys.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, keys.size());
      const std::size_t end = std::min(begin + 2 * width, keys.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t at = begin; at < end; ++at) {
        bool takes_right = left == middle;
        if (left < middle && right < end) {
          const Value& a = keys[order[left]];
          const Value& b = keys[order[right]];
          takes_right = TRY(compared(machine, Op::lt, reverse ? a : b, reverse ? b : a));
        }
        merged[at] = takes_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  return order;
}

Result sorted(Machine& machine, const std::vector<Value>& items, const Order& order) {
  std::vector<Value> keys;
  keys.reserve(items.size());
  for (const Value& item : items) keys.push_back(TRY(sort_key(machine, item, order.attribute, order.case_sensitive)));
  const auto positions = TRY(sorted_positions(machine, keys, order.reverse));
  std::vector<Value> out;
  out.reserve(items.size());
  for (const std::size_t at : positions) out.push_back(items[at]);
  return machine.list(std::move(out));
}

}  // namespace stackgate::jinja
