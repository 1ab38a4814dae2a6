#include "services/evaluator/vectors/protocol/milvus.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::milvus {
namespace {

constexpr json::ParseLimits limits{.max_depth = 16, .max_bytes = 16U << 20U};

void write_vector(json::Writer& w, std::span<const float> vector) {
  w.array([&] {
    for (const float each : vector) w.value(static_cast<double>(each));
  });
}

std::string one_line(std::string_view words) {
  std::string out(words.substr(0, 300));
  while (!out.empty() && out.size() == 300 && (static_cast<unsigned char>(out.back()) & 0x80U) != 0) out.pop_back();
  std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::unexpected<Refusal> none_of_milvus(std::string_view what) {
  return std::unexpected(Refusal{0, std::string(what)});
}

/// The member `data` of an answer that says that all went well.
std::expected<json::Value, Refusal> data_of(std::string_view body, json::Document& document) {
  const auto root = json::parse(body, document, limits);
  if (!root || !root->is_object()) return none_of_milvus("is no JSON object");
  const json::Value* code = root->find("code");
  if (code == nullptr || !code->is_integer()) return none_of_milvus("has no code");
  if (code->integer() != 0 && code->integer() != 200)
    return std::unexpected(Refusal{code->integer(), one_line(json::text(&*root, {"message"}))});
  return json::value_at(&*root, {"data"});
}

/// A number, or one as text.
std::optional<std::uint64_t> whole_number(const json::Value& value) {
  if (value.is_integer()) return value.integer() < 0 ? std::nullopt : std::optional<std::uint64_t>(value.integer());
  const std::string_view text = value.string();
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace

std::string create_body(std::string_view collection, std::uint32_t dimension) {
  return json::object_text([&](json::Writer& w) {
    w.member("collectionName", collection);
    w.member("dimension", dimension);
    w.member("metricType", "COSINE");
    w.member("idType", "Int64");
    w.member("autoID", false);
    w.member("primaryFieldName", "id");
    w.member("vectorFieldName", "vector");
    w.object("params", [&] { w.member("consistencyLevel", "Strong"); });
  });
}

std::string collection_body(std::string_view collection) {
  return json::object_text([&](json::Writer& w) { w.member("collectionName", collection); });
}

std::string count_body(std::string_view collection) {
  return json::object_text([&](json::Writer& w) {
    w.member("collectionName", collection);
    w.member("filter", "");
    w.array("outputFields", [&] { w.value("count(*)"); });
    w.member("consistencyLevel", "Strong");
  });
}

std::string upsert_body(std::string_view collection, std::uint64_t first, std::uint32_t dimension,
                        std::span<const float> vectors) {
  return json::object_text([&](json::Writer& w) {
    w.member("collectionName", collection);
    w.array("data", [&] {
      for (std::uint64_t id = first; vectors.size() >= dimension; ++id, vectors = vectors.subspan(dimension))
        w.object([&] {
          w.member("id", id);
          w.key("vector");
          write_vector(w, vectors.first(dimension));
        });
    });
  });
}

std::string search_body(std::string_view collection, std::span<const float> query, std::uint32_t k) {
  return json::object_text([&](json::Writer& w) {
    w.member("collectionName", collection);
    w.array("data", [&] { write_vector(w, query); });
    w.member("annsField", "vector");
    w.member("limit", k);
    w.array("outputFields", [&] { w.value("id"); });
    w.object("searchParams", [&] { w.member("metricType", "COSINE"); });
    w.member("consistencyLevel", "Strong");
  });
}

std::expected<void, Refusal> read_done(std::string_view body) {
  json::Document document;
  const auto data = data_of(body, document);
  if (!data) return std::unexpected(data.error());
  return {};
}

std::expected<bool, Refusal> read_has(std::string_view body) {
  json::Document document;
  const auto data = data_of(body, document);
  if (!data) return std::unexpected(data.error());
  return json::flag(&*data, {"has"});
}

std::expected<std::uint64_t, Refusal> read_count(std::string_view body) {
  json::Document document;
  const auto data = data_of(body, document);
  if (!data) return std::unexpected(data.error());
  if (data->items().empty()) return 0;
  const auto count = whole_number(json::value_at(&data->items().front(), {"count(*)"}));
  if (!count) return none_of_milvus("has no count(*)");
  return *count;
}

std::expected<std::uint32_t, Refusal> read_dimension(std::string_view body) {
  json::Document document;
  const auto data = data_of(body, document);
  if (!data) return std::unexpected(data.error());
  for (const json::Value& field : json::items(&*data, {"fields"})) {
    if (json::text(&field, {"name"}) != "vector") continue;
    for (const json::Value& param : json::items(&field, {"params"}))
      if (json::text(&param, {"key"}) == "dim")
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(whole_number(json::value_at(&param, {"value"})).value_or(0), UINT32_MAX));
  }
  return 0;
}

std::expected<std::uint64_t, Refusal> read_upserted(std::string_view body) {
  json::Document document;
  const auto data = data_of(body, document);
  if (!data) return std::unexpected(data.error());
  const auto count = whole_number(json::value_at(&*data, {"upsertCount"}));
  if (!count) return none_of_milvus("has no upsertCount");
  return *count;
}

std::expected<std::vector<Found>, Refusal> read_found(std::string_view body) {
  json::Document document;
  const auto data = data_of(body, document);
  if (!data) return std::unexpected(data.error());
  if (!data->is_array()) return none_of_milvus("has no list of what was found");
  std::vector<Found> out;
  for (const json::Value& each : data->items()) {
    const auto id = whole_number(json::value_at(&each, {"id"}));
    const json::Value distance = json::value_at(&each, {"distance"});
    if (!id || !distance.is_number() || !std::isfinite(distance.number()))
      return none_of_milvus("has a hit without id and distance");
    out.push_back({*id, distance.number()});
  }
  return out;
}

}  // namespace stackgate::evaluator::milvus
