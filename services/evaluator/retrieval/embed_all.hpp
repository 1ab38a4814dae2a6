// Many texts embedded, several calls side by side, their vectors in order.
#pragma once
#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "services/evaluator/endpoint/endpoint.hpp"

namespace stackgate::evaluator {

struct EmbedOptions {
  unsigned parallelism = 8;
  std::size_t batch_texts = 32;         // of one call; 1 to most_texts
  std::size_t batch_bytes = 256 << 10;  // a longer text goes alone
  /// How long an endpoint that is away is waited for.
  std::chrono::milliseconds patience{300'000};
  std::chrono::milliseconds pause{2'000};
};

/// `take` gets the vectors of texts from number `first` on, in order, on the caller's thread; an error of its ends it.
/// `stop`: asked a few times a second, on any thread. Vectors that were not taken are lost.
std::expected<void, NoAnswer> embed_all(
    const Endpoint& endpoint, std::size_t count, const std::function<std::string_view(std::size_t)>& text,
    const EmbedOptions& options,
    const std::function<std::expected<void, NoAnswer>(std::size_t first, const Embeddings&)>& take,
    const std::function<bool()>& stop);

}  // namespace stackgate::evaluator
