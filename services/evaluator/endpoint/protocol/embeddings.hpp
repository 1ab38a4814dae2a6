// Texts as vectors: bodies for /embeddings, and answers read with limits. Pure and thread-safe.
// Source: https://platform.openai.com/docs/api-reference/embeddings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::evaluator {

inline constexpr std::size_t most_texts = 256;  // of one call
inline constexpr std::uint32_t most_embedding_dimensions = 32'768;

struct Embeddings {
  std::uint32_t dimension = 0;
  std::vector<float> values{};  // one vector behind the other
};

/// Asks for numbers in JSON, which every server knows; some answer with base64 nevertheless.
std::string write_embeddings(std::span<const std::string> texts, std::string_view model);

/// Of `count` texts, in their order, whatever the answer's. Numbers, or base64 of little-endian floats. The error is a
/// sentence without anything of the answer: vectors missing or of different dimensions, values that are no numbers.
std::expected<Embeddings, std::string> read_embeddings(std::string_view body, std::size_t count);

}  // namespace stackgate::evaluator
