// Milvus' REST API v2: bodies, and answers read with limits. Pure and thread-safe.
// Source: https://milvus.io/api-reference/restful/v2.4.x/About.md; an error is an answer with status 200 and another
// `code` than 0 (200 in 2.3). Whole numbers of 64 bits come as texts unless asked for with Accept-Type-Allow-Int64.
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator::milvus {

/// A collection of vectors under whole numbers: fields "id" and "vector", similarity by cosine, indexed and loaded by
/// Milvus itself.
std::string create_body(std::string_view collection, std::uint32_t dimension);
/// has, describe, load, drop.
std::string collection_body(std::string_view collection);
std::string count_body(std::string_view collection);
/// `vectors`: one behind the other, from number `first` on.
std::string upsert_body(std::string_view collection, std::uint64_t first, std::uint32_t dimension,
                        std::span<const float> vectors);
std::string search_body(std::string_view collection, std::span<const float> query, std::uint32_t k);

/// Milvus' own words of an error, at most 300 bytes in one line.
struct Refusal {
  std::int64_t code = 0;  // 0: the answer is none of Milvus
  std::string words{};
};

/// Whether it was done.
std::expected<void, Refusal> read_done(std::string_view body);
/// Of `has`.
std::expected<bool, Refusal> read_has(std::string_view body);
/// Of a query for count(*).
std::expected<std::uint64_t, Refusal> read_count(std::string_view body);
/// Of `describe`: the dimension of the field "vector"; 0: there is none.
std::expected<std::uint32_t, Refusal> read_dimension(std::string_view body);
/// How many rows an upsert says that it took.
std::expected<std::uint64_t, Refusal> read_upserted(std::string_view body);

struct Found {
  std::uint64_t id = 0;
  double distance = 0;  // with COSINE the similarity: the greater, the nearer
};
std::expected<std::vector<Found>, Refusal> read_found(std::string_view body);

}  // namespace stackgate::evaluator::milvus
