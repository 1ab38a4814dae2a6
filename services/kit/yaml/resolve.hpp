// What a YAML scalar means, by the rules of go-yaml v2, which kubectl reads manifests with (YAML 1.1 with the octal
// form of 1.2): `yes` is true, `0o17` and `017` are 15, `1_000` is 1000, `2001-01-01` stays a string.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "services/kit/json/document.hpp"

namespace stackgate::yaml {

struct Resolved {
  json::Value value;              // a string is `text` itself, unless it was tagged !!binary
  const char* problem = nullptr;  // set when JSON has no such value
};

/// A plain scalar without a tag.
Resolved resolve_plain(std::string_view text, std::uint32_t offset);

/// A scalar with an explicit tag ("tag:yaml.org,2002:int"). An unknown tag makes a string of it; so does !!binary, of
/// the bytes that its base64 stands for, and that string lives in `arena`.
Resolved resolve_tagged(std::string_view tag, std::string_view text, std::uint32_t offset, json::Arena& arena);

/// A float that is a whole number is an integer once it has been written as JSON and read again, as it is on its way
/// to the API server.
json::Value as_json(const json::Value& value);

/// A scalar key as the JSON key that the API server would see; nothing for null.
std::optional<std::string_view> key_text(const json::Value& key, json::Arena& arena);

}  // namespace stackgate::yaml
