// What methods and filters of texts share.
#pragma once
#include <string_view>
#include <vector>

#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/objects.hpp"

namespace stackgate::jinja {

/// The first `most` occurrences replaced, all when it is negative.
Result replaced(Machine& machine, std::string_view text, std::string_view part, std::string_view by, std::int64_t most);
/// At the ends that Python's splitlines() knows.
std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends = false);
Result text_list(Machine& machine, const std::vector<std::string_view>& parts, Form form = Form::list);
std::span<const NamedBuiltin> search_methods();

/// A function of the text alone, as a method.
template <auto map>
Result text_method(Machine& machine, const Value& subject, Arguments& arguments) {
  if (!arguments.positional.empty() || !arguments.named.empty()) return type_fault("this method takes no argument");
  if (auto paid = machine.spend_on(subject.bytes().size() * 16); !paid) return std::unexpected(std::move(paid).error());
  if (auto room = machine.has_room(subject.bytes().size() * 3); !room) return std::unexpected(std::move(room).error());
  return machine.text(std::string(map(subject.bytes())));
}

}  // namespace stackgate::jinja
