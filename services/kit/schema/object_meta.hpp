// The schema of `metadata`, which every object has without saying so.
#pragma once
#include <string_view>

#include "services/kit/schema/schema.hpp"

namespace stackgate::validate::schema {

/// Source: type ObjectMeta in k8s.io/apimachinery/pkg/apis/meta/v1. Types only: the API server's rules about names,
/// labels and owners are rules of the book.
const Node& object_meta();

/// For apiVersion and kind, where a schema does not describe them.
const Node& type_meta_text();

}  // namespace stackgate::validate::schema
