// The parts of read_tokenizer(); each reports what is wrong and goes on.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "services/kit/findings/json_report.hpp"
#include "services/model/tokenizer/description.hpp"

namespace stackgate::tokenizer {

using Component = validate::JsonPlace;
using Report = validate::JsonReport;

inline constexpr std::size_t deepest_sequence = 8;  // sequences in sequences
inline constexpr std::size_t most_components = 64;  // of one kind, sequences opened

void read_normalizer(const Component& at, Description& out, Report& report, std::size_t depth = 0);
/// Sets `byte_level` too.
void read_pre_tokenizer(const Component& at, Description& out, Report& report, std::size_t depth = 0);
void read_decoder(const Component& at, Description& out, Report& report);
void read_added_tokens(const Component& at, Description& out, Report& report);
/// Needs `added`, `byte_level`; makes vocabulary and merges.
void read_model(const Component& at, Description& out, Report& report);
/// Needs the vocabulary.
void read_post_processor(const Component& at, Description& out, Report& report, std::size_t depth = 0);

/// Calls `each` for the items of a Sequence's list, and checks that it is one that is not too deep.
template <class Each>
void read_sequence(const Component& at, std::string_view key, std::size_t depth, Report& report, Each&& each) {
  const json::Value* list = at.value.find(key);
  if (list == nullptr || !list->is_array())
    return report.wrong("tokenizer-type", at, fmt::format("lacks the list \"{}\"", key),
                        fmt::format("write \"{}\": […]", key));
  if (depth >= deepest_sequence || list->items().size() > most_components)
    return report.wrong("tokenizer-limit", at, "nests sequences deeper than 8, or one has more than 64 components",
                        "write fewer");
  for (std::size_t i = 0; i < list->items().size(); ++i) each(at.item(key, i, list->items()[i]));
}

/// The "type" of a component that is an object, or empty after a finding.
std::string_view component_type(const Component& at, Report& report);

}  // namespace stackgate::tokenizer
