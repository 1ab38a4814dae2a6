// Pages of lists, as three families of clients ask for them. Pure.
//
//   NeMo          page, page_size → {"object":"list","data":[…],"pagination":{…},"sort","filter"}
//   Gitea         page, limit     → X-Total-Count and Link (RFC 8288), absolute URLs
//   Hugging Face  limit, cursor   → Link with rel="next" only
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/json/write.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/query.hpp"

namespace stackgate::web {

struct Page {
  std::uint64_t number = 1;  // from 1
  std::uint64_t size = 10;
  std::uint64_t offset() const { return (number - 1) * size; }
};

struct PageNames {
  std::string_view number = "page", size = "page_size";
};
inline constexpr PageNames nemo_pages{};
inline constexpr PageNames gitea_pages{"page", "limit"};

/// 422 when a number is none or is 0; a size beyond `largest` becomes `largest`.
std::expected<Page, Failure> read_page(const Query& query, const PageNames& names, std::uint64_t fallback_size,
                                       std::uint64_t largest);
/// "limit" alone.
std::expected<std::uint64_t, Failure> read_limit(const Query& query, std::uint64_t fallback, std::uint64_t largest);

/// A sort order: "-created_at" is descending. 422 names the allowed fields when it is none of them.
struct Sort {
  std::string field;
  bool descending = false;
};
std::expected<Sort, Failure> read_sort(const Query& query, std::span<const std::string_view> fields,
                                       const Sort& fallback);

/// NeMo's "pagination" member of an open object.
void write_pagination(json::Writer& writer, const Page& page, std::uint64_t on_this_page, std::uint64_t total);

/// Gitea's headers. `url`: absolute, without the query.
void add_page_headers(Headers& headers, std::string_view url, const Query& query, const PageNames& names,
                      const Page& page, std::uint64_t total);
/// Link: <url?query with cursor>; rel="next".
void add_next_link(Headers& headers, std::string_view url, const Query& query, std::string_view cursor_name,
                   std::string_view cursor);

/// `query` with one pair replaced or added, encoded.
std::string with_parameter(const Query& query, std::string_view name, std::string_view value);

}  // namespace stackgate::web
