#include "services/evaluator/vectors/vector_store.hpp"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "services/evaluator/vectors/index_file.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::evaluator {
namespace {

std::unexpected<StoreFault> failed(std::string message) {
  return std::unexpected(StoreFault{false, std::move(message)});
}

struct Embedded {
  std::string path;
  IndexShape::Kind kind;
  std::size_t capacity;
  std::optional<EmbeddedIndex> index{};

  VectorStore::Expected<std::uint64_t> count() {
    if (index) return index->size();
    auto read = read_index(path);
    if (!read) {
      // It was made of what can be embedded again.
      if (read.error().kind == NoIndex::damaged)
        log::warning("an index is made again", {{"reason", read.error().message}});
      return 0;
    }
    if (read->shape().kind != kind) return 0;
    index.emplace(std::move(*read));
    return index->size();
  }
  VectorStore::Expected<void> put(std::uint64_t first, std::uint32_t dimension, std::span<const float> vectors) {
    if (dimension == 0 || dimension > most_dimensions || vectors.size() % dimension != 0)
      return failed(fmt::format("vectors of {} dimensions cannot be indexed", dimension));
    if (first == 0) index.emplace(IndexShape{.kind = kind, .dimension = dimension}, capacity);
    if (!index || index->size() != first) return failed("vectors of an index come in order");
    for (; !vectors.empty(); vectors = vectors.subspan(dimension))
      if (!index->add(vectors.first(dimension)))
        return failed(fmt::format("vector {} has another dimension, or a value that is no number", index->size()));
    return {};
  }
  VectorStore::Expected<void> finish() {
    if (!index) return failed("there are no vectors");
    if (auto done = write_index(*index, path); !done) return failed(std::move(done.error()));
    return {};
  }
  VectorStore::Expected<std::vector<Neighbour>> nearest(std::span<const float> query, std::uint32_t k) const {
    if (!index) return failed("there are no vectors");
    if (query.size() != index->shape().dimension)
      return failed(fmt::format("the query has {} dimensions, the index {}", query.size(), index->shape().dimension));
    return index->nearest(query, k);
  }
  VectorStore::Expected<void> drop() {
    index.reset();
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
      return failed(fmt::format("cannot remove {}: {}", path, std::strerror(errno)));
    return {};
  }
};

}  // namespace

VectorStore embedded_store(std::string path, IndexShape::Kind kind, std::size_t capacity) {
  auto own = std::make_shared<Embedded>(std::move(path), kind, capacity);
  return {.name = "in memory",
          .count = [own] { return own->count(); },
          .put = [own](std::uint64_t first, std::uint32_t dimension,
                       std::span<const float> vectors) { return own->put(first, dimension, vectors); },
          .finish = [own] { return own->finish(); },
          .nearest = [own](std::span<const float> query, std::uint32_t k) { return own->nearest(query, k); },
          .drop = [own] { return own->drop(); }};
}

}  // namespace stackgate::evaluator
