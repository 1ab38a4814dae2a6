// What users wrote, in the form in which the API server gives it back: otherwise a child would never compare equal to
// its live object. Maps and lists that are empty, empty texts and nulls are left out where Go's `omitempty` leaves them
// out, and so are nulls in maps of quantities, which the API server drops (in a map of texts null is ""); quantities
// are rewritten; members stand in alphabetical order.
#pragma once
#include <string>
#include <string_view>

#include "reconcile/plan/parts/scope.hpp"
#include "services/kit/json/write.hpp"
#include "validators/field.hpp"

namespace stackgate::reconcile::parts {

/// The value of `field`, which is written; the schema tells maps from objects and quantities from texts.
void write_canonical(json::Writer& out, const Field& field);

/// The same as a member, or nothing when the API server would leave it out.
void member_canonical(json::Writer& out, std::string_view key, const Field& field);

/// member_canonical() of each of the named members of `from`, in the given order.
void members_canonical(json::Writer& out, const Field& from, std::initializer_list<std::string_view> keys);

std::string canonical_json(const Field& field);
/// Empty when the API server would leave it out.
std::string optional_json(const Field& field);

/// A map of texts in the resource (labels, annotations); null counts as "".
pods::TextMap read_map(const Field& field);

/// An amount of a request or a limit as Kubernetes writes it; the text itself when it is none.
std::string amount_text(std::string_view amount);

}  // namespace stackgate::reconcile::parts
