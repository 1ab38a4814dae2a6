#include "services/evaluator/vectors/milvus_store.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "services/evaluator/vectors/protocol/milvus.hpp"
#include "services/kit/base/replace_all.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::evaluator {
namespace {

using milvus::Refusal;

// Milvus takes bodies of 64 MiB at most, and a number is about 12 bytes of text.
constexpr std::size_t batch_numbers = 1U << 20U;
constexpr std::uint64_t batch_rows = 1000;
constexpr std::uint32_t most_found = 16'384;  // Milvus' own limit

class Milvus {
 public:
  Milvus(MilvusOptions options, std::string collection)
      : options_(std::move(options)),
        collection_(std::move(collection)),
        client_({.connect = std::chrono::seconds(5),
                 .pause = options_.timeout,
                 .retries = options_.retries,
                 .ca_file = options_.ca_file,
                 .user_agent = "stackgate-evaluator"}) {}

  VectorStore::Expected<std::uint64_t> count() const {
    if (!TRY(call("collections/has", milvus::collection_body(collection_), milvus::read_has))) return 0;
    TRY(load());
    return call("entities/query", milvus::count_body(collection_), milvus::read_count);
  }

  VectorStore::Expected<void> put(std::uint64_t first, std::uint32_t dimension, std::span<const float> vectors) {
    if (dimension == 0 || vectors.size() % dimension != 0) return failed("cannot be given", "vectors of no dimension");
    if (!ready_) TRY(prepare(dimension));
    while (!vectors.empty()) {
      const std::uint64_t rows = std::min<std::uint64_t>(
          {vectors.size() / dimension, batch_rows, std::max<std::uint64_t>(batch_numbers / dimension, 1)});
      const std::uint64_t taken = TRY(
          call("entities/upsert", milvus::upsert_body(collection_, first, dimension, vectors.first(rows * dimension)),
               milvus::read_upserted));
      if (taken != rows) return failed("entities/upsert", fmt::format("took {} of {} vectors", taken, rows));
      first += rows;
      vectors = vectors.subspan(rows * dimension);
    }
    return {};
  }

  VectorStore::Expected<void> load() const {
    return call("collections/load", milvus::collection_body(collection_), milvus::read_done);
  }

  VectorStore::Expected<std::vector<Neighbour>> nearest(std::span<const float> query, std::uint32_t k) const {
    const auto found = TRY(
        call("entities/search", milvus::search_body(collection_, query, std::min(k, most_found)), milvus::read_found));
    std::vector<Neighbour> out;
    out.reserve(found.size());
    for (const milvus::Found& each : found) out.push_back({each.id, each.distance});
    keep_nearest(out, k);
    return out;
  }

  VectorStore::Expected<void> drop() const {
    return call("collections/drop", milvus::collection_body(collection_), milvus::read_done);
  }

  std::string name() const { return fmt::format("Milvus at {}", options_.url); }

 private:
  /// A collection of another dimension is one that was left half-made under this name by another model.
  VectorStore::Expected<void> prepare(std::uint32_t dimension) {
    if (TRY(call("collections/has", milvus::collection_body(collection_), milvus::read_has))) {
      const std::uint32_t has =
          TRY(call("collections/describe", milvus::collection_body(collection_), milvus::read_dimension));
      if (has == dimension) {
        ready_ = true;
        return {};
      }
      TRY(drop());
    }
    TRY(call("collections/create", milvus::create_body(collection_, dimension), milvus::read_done));
    ready_ = true;
    return {};
  }

  std::unexpected<StoreFault> failed(std::string_view what, std::string_view why, bool away = false) const {
    return std::unexpected(StoreFault{away, fmt::format("{}: {}: {}", name(), what, why)});
  }

  template <class T>
  VectorStore::Expected<T> call(std::string_view path, std::string body,
                                std::expected<T, Refusal> (*read)(std::string_view)) const {
    http_client::Request request{.method = "POST",
                                 .url = fmt::format("{}/v2/vectordb/{}", options_.url, path),
                                 .headers = {{"Content-Type", "application/json"},
                                             {"Accept", "application/json"},
                                             {"Accept-Type-Allow-Int64", "true"}},
                                 .body = std::move(body),
                                 .repeatable = true,  // each of them may be done twice
                                 .give_up = options_.stop};
    if (!options_.token.empty()) request.headers.emplace_back("Authorization", "Bearer " + options_.token);
    const auto reply = client_.call(request);
    if (!reply) return failed(path, reply.error().message, true);
    if (reply->status == 401 || reply->status == 403) return failed(path, "it does not take the token");
    auto out = read(reply->body);
    if (out) {
      if (reply->status >= 300) return failed(path, fmt::format("status {}", reply->status), reply->status >= 500);
      if constexpr (std::is_void_v<T>)
        return {};
      else
        return std::move(*out);
    }
    const Refusal& refusal = out.error();
    if (refusal.code == 0)
      return failed(path, fmt::format("status {}, and an answer that {}", reply->status, refusal.words),
                    reply->status >= 500 || reply->status == 429);
    const std::string words = replace_all(refusal.words, options_.token, "***");
    // 8: rate limit; 1800: not authenticated, which does not pass.
    return failed(path, fmt::format("{} (code {})", words.empty() ? "no reason given" : words, refusal.code),
                  refusal.code == 8 || reply->status >= 500);
  }

  const MilvusOptions options_;
  const std::string collection_;
  const http_client::Client client_;
  bool ready_ = false;
};

}  // namespace

VectorStore milvus_store(MilvusOptions options, std::string collection) {
  while (options.url.ends_with('/')) options.url.pop_back();
  auto own = std::make_shared<Milvus>(std::move(options), std::move(collection));
  return {.name = own->name(),
          .count = [own] { return own->count(); },
          .put = [own](std::uint64_t first, std::uint32_t dimension,
                       std::span<const float> vectors) { return own->put(first, dimension, vectors); },
          .finish = [own] { return own->load(); },
          .nearest = [own](std::span<const float> query, std::uint32_t k) { return own->nearest(query, k); },
          .drop = [own] { return own->drop(); }};
}

}  // namespace stackgate::evaluator
