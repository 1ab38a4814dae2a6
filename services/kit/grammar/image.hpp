// Container image references: [registry "/"] repository [":" tag] ["@" digest].
// Source: the grammar of github.com/distribution/reference, and its rule which first part is a registry.
#pragma once
#include <expected>
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// The views point into the text that was parsed.
struct Image {
  std::string_view registry;    // with its port; empty when the reference leaves it to the runtime
  std::string_view repository;  // "library/nginx"
  std::string_view tag;
  std::string_view digest;  // "sha256:…"
};

std::expected<Image, Problem> parse_image(std::string_view text);

/// An image without tag and digest, for fields that have the tag beside them.
std::optional<Problem> check_image_repository(std::string_view text);

/// 1 to 128 of letters, digits, '_', '.', '-', not beginning with '.' or '-'.
std::optional<Problem> check_image_tag(std::string_view text);

}  // namespace stackgate::validate::grammar
