// The mark by which a later run knows that a child was made from the same plan.
// Pure and thread-safe.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/json/value.hpp"

namespace stackgate::reconcile {

inline constexpr std::string_view plan_annotation = "stackgate.dev/plan";

/// 16 hex digits of an FNV-1a over the body. `without_replicas` leaves spec.replicas out.
std::string plan_hash(const json::Value& body, bool without_replicas);

/// The body with metadata.annotations[plan_annotation] = `hash`, as compact JSON.
std::string stamped(const json::Value& body, std::string_view hash);

/// The mark of an object, or empty.
std::string_view stamp_of(const json::Value& object);

}  // namespace stackgate::reconcile
