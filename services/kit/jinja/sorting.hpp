// sort, dictsort, groupby: keys and a stable sort that may fail.
#pragma once
#include <vector>

#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

struct Order {
  bool reverse = false;
  bool case_sensitive = false;
  const Value* attribute = nullptr;  // a path, several by commas; nullptr or None: the item itself
};

/// What an item is ordered and compared by: without case_sensitive in small letters.
Result sort_key(Machine& machine, const Value& item, const Value* attribute, bool case_sensitive);
Result sorted(Machine& machine, const std::vector<Value>& items, const Order& order);
/// The order of `keys`, which have an order.
std::expected<std::vector<std::size_t>, Fault> sorted_positions(Machine& machine, const std::vector<Value>& keys,
                                                                bool reverse);

}  // namespace stackgate::jinja
