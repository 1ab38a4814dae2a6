// The hash by which a later run knows that a child was made from the same plan.
// Pure and thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

/// "<16 hex digits over the whole body>.<16 over its shape>", by FNV-1a. The shape is which fields and named list items
/// there are, without what they hold. `without_replicas` leaves spec.replicas out of the first.
std::string plan_hash(const json::Value& body, bool without_replicas);

/// Whether bodies of these hashes have the same shape: the later one then takes no field away.
bool same_shape(std::string_view hash, std::string_view other);

/// The body with the annotation plan_annotation = `hash`, as compact JSON. `data`, which is JSON, takes the place of
/// its member of that name unless it is empty.
std::string with_plan_hash(const json::Value& body, std::string_view hash, std::string_view data = {});

/// The plan hash that an object bears, or empty.
std::string_view plan_hash_of(const json::Value& object);

}  // namespace stackgate::reconcile
