#include "services/kit/jinja/to_json.hpp"

#include <cmath>
#include <unordered_map>

namespace stackgate::jinja {
namespace {

void write(json::Writer& w, const Value& value);

void write_members(json::Writer& w, const Dict& dict) {
  std::unordered_map<std::string, const Value*> last;  // only of dicts that have keys of several types
  for (const auto& [key, member] : dict.items)
    if (key.text() == nullptr) last.try_emplace(to_json(key));
  if (!last.empty())
    for (const auto& [key, member] : dict.items)
      last[key.text() != nullptr ? std::string(key.bytes()) : to_json(key)] = &member;
  w.object([&] {
    for (const auto& [key, member] : dict.items) {
      const std::string name = key.text() != nullptr ? std::string(key.bytes()) : to_json(key);
      if (!last.empty() && last[name] != &member) continue;
      w.key(name);
      write(w, member);
    }
  });
}

void write(json::Writer& w, const Value& value) {
  if (value.text() != nullptr) return w.value(value.bytes());
  if (const bool* flag = value.boolean()) return w.value(*flag);
  if (const std::int64_t* integer = value.integer()) return w.value(*integer);
  if (const double* real = value.real(); real != nullptr && std::isfinite(*real)) return w.value(*real);
  if (const DictPtr* dict = value.dict()) return write_members(w, **dict);
  if (const ListPtr* list = value.list())
    return w.array([&] {
      for (const Value& each : (*list)->items) write(w, each);
    });
  w.value(nullptr);
}

}  // namespace

void write_json(json::Writer& w, const Value& value) {
  if (value.depth() > most_json_depth || value.weight() > most_json_weight) return w.value(nullptr);
  write(w, value);
}

std::string to_json(const Value& value) {
  std::string out;
  json::Writer writer(out);
  write_json(writer, value);
  return out;
}

}  // namespace stackgate::jinja
