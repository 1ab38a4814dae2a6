#include "services/evaluator/vectors/embedded_index.hpp"

#include <algorithm>
#include <cmath>

#include "services/evaluator/vectors/vector_math.hpp"

namespace stackgate::evaluator {
namespace {

bool is_nearer(const Neighbour& a, const Neighbour& b) {
  return a.score != b.score ? a.score > b.score : a.number < b.number;
}

bool are_numbers(std::span<const float> values) {
  return std::ranges::all_of(values, [](float each) { return std::isfinite(each); });
}

}  // namespace

void keep_nearest(std::vector<Neighbour>& found, std::size_t k) {
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(k, found.size()));
  std::ranges::partial_sort(found, end, is_nearer);
  found.erase(end, found.end());
}

EmbeddedIndex::EmbeddedIndex(IndexShape shape, std::size_t capacity) : shape_(shape), capacity_(capacity) {
  if (shape_.kind == IndexShape::Kind::hnsw) graph_.emplace(shape_.dimension, capacity, shape_.graph);
}

bool EmbeddedIndex::add(std::span<const float> vector) {
  if (vector.size() != shape_.dimension || size_ >= capacity_ || !are_numbers(vector)) return false;
  std::vector<float> own(vector.begin(), vector.end());
  if (shape_.metric == IndexShape::Metric::cosine && !normalise(own)) return false;
  if (graph_)
    graph_->add(own);
  else
    values_.insert(values_.end(), own.begin(), own.end());
  ++size_;
  return true;
}

std::vector<Neighbour> EmbeddedIndex::nearest(std::span<const float> query, std::size_t k) const {
  if (query.size() != shape_.dimension || k == 0 || size_ == 0 || !are_numbers(query)) return {};
  std::vector<float> own(query.begin(), query.end());
  if (shape_.metric == IndexShape::Metric::cosine && !normalise(own)) return {};
  const auto score = [&](std::size_t number) -> double { return dot(own.data(), vector(number).data(), own.size()); };
  std::vector<Neighbour> found;
  if (graph_) {
    for (const std::uint32_t number : graph_->nearest(own.data(), k)) found.push_back({number, score(number)});
  } else {
    found.reserve(size_);
    for (std::size_t number = 0; number < size_; ++number) found.push_back({number, score(number)});
  }
  keep_nearest(found, k);
  return found;
}

std::span<const float> EmbeddedIndex::vector(std::size_t number) const {
  return {graph_ ? graph_->vector(number) : values_.data() + number * shape_.dimension, shape_.dimension};
}

std::expected<EmbeddedIndex, std::string> EmbeddedIndex::restore(IndexShape shape, std::vector<float> vectors,
                                                                 const HnswLinks& links) {
  if (!are_numbers(vectors)) return std::unexpected("a vector has a value that is no number");
  EmbeddedIndex out({.kind = IndexShape::Kind::exact, .metric = shape.metric, .dimension = shape.dimension}, 0);
  out.shape_ = shape;
  out.size_ = out.capacity_ = vectors.size() / shape.dimension;
  if (shape.kind == IndexShape::Kind::exact) {
    out.values_ = std::move(vectors);
    return out;
  }
  auto graph = HnswGraph::restore(shape.dimension, vectors, links, shape.graph);
  if (!graph) return std::unexpected(std::move(graph.error()));
  out.graph_.emplace(std::move(*graph));
  return out;
}

}  // namespace stackgate::evaluator
