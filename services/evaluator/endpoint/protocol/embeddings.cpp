#include "services/evaluator/endpoint/protocol/embeddings.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "services/kit/base/base64.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

static_assert(std::endian::native == std::endian::little, "base64 holds little-endian floats");

std::unexpected<std::string> refused(const char* why) { return std::unexpected(std::string(why)); }

/// Nothing: it is no vector.
std::optional<std::vector<float>> read_vector(const json::Value& value) {
  std::vector<float> out;
  if (value.is_string()) {
    const auto bytes = base64::decode(value.string());
    if (!bytes || bytes->size() % sizeof(float) != 0 || bytes->size() > most_embedding_dimensions * sizeof(float))
      return std::nullopt;
    out.resize(bytes->size() / sizeof(float));
    if (!out.empty()) std::memcpy(out.data(), bytes->data(), bytes->size());
    return out;
  }
  if (value.items().size() > most_embedding_dimensions) return std::nullopt;
  out.reserve(value.items().size());
  for (const json::Value& each : value.items()) {
    if (!each.is_number()) return std::nullopt;
    out.push_back(static_cast<float>(each.number()));
  }
  return out;
}

}  // namespace

std::string write_embeddings(std::span<const std::string> texts, std::string_view model) {
  return json::object_text([&](json::Writer& w) {
    w.member("model", model);
    w.array("input", [&] {
      for (const std::string& each : texts) w.value(each);
    });
    w.member("encoding_format", "float");
  });
}

std::expected<Embeddings, std::string> read_embeddings(std::string_view body, std::size_t count) {
  json::Document document;
  const auto root = json::parse(body, document, {.max_depth = 16, .max_bytes = 64U << 20U});
  if (!root) return refused("is no JSON");
  const auto data = json::items(&*root, {"data"});
  if (data.size() != count) return refused("has another number of vectors than there were texts");
  Embeddings out;
  std::vector<bool> seen(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t index = json::integer(&data[i], {"index"}, static_cast<std::int64_t>(i));
    if (index < 0 || index >= static_cast<std::int64_t>(count) || seen[static_cast<std::size_t>(index)])
      return refused("has two vectors for one text");
    seen[static_cast<std::size_t>(index)] = true;
    const auto vector = read_vector(json::value_at(&data[i], {"embedding"}));
    if (!vector || vector->empty()) return refused("has no vector where one is due");
    if (out.dimension == 0) {
      out.dimension = static_cast<std::uint32_t>(vector->size());
      out.values.resize(count * vector->size());
    }
    if (vector->size() != out.dimension) return refused("has vectors of different dimensions");
    for (const float each : *vector)
      if (!std::isfinite(each)) return refused("has a vector with a value that is no number");
    std::memcpy(out.values.data() + static_cast<std::size_t>(index) * out.dimension, vector->data(),
                vector->size() * sizeof(float));
  }
  return out;
}

}  // namespace stackgate::evaluator
