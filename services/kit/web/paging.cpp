#include "services/kit/web/paging.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::web {
namespace paging_detail {

// Page numbers stay below 2³¹, so that a page's offset fits whatever its size.
constexpr std::uint64_t largest_number = std::numeric_limits<std::int32_t>::max();

std::expected<std::uint64_t, Failure> read_number(const Query& query, std::string_view name, std::uint64_t fallback) {
  const auto text = query.get(name);
  if (!text || text->empty()) return fallback;
  const auto number = to_number<std::uint64_t>(*text);
  if (!number || *number == 0 || *number > largest_number)
    return std::unexpected(
        Failure{422, fmt::format("the parameter {} must be a number from 1 to {}", name, largest_number)});
  return *number;
}

void append_pair(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += '&';
  out.append(percent_encode(name)).append("=").append(percent_encode(value));
}

}  // namespace paging_detail

std::expected<Page, Failure> read_page(const Query& query, const PageNames& names, std::uint64_t fallback_size,
                                       std::uint64_t largest) {
  const auto number = TRY(paging_detail::read_number(query, names.number, 1));
  const auto size = TRY(paging_detail::read_number(query, names.size, fallback_size));
  return Page{number, std::min(size, largest)};
}

std::expected<std::uint64_t, Failure> read_limit(const Query& query, std::uint64_t fallback, std::uint64_t largest) {
  const auto limit = TRY(paging_detail::read_number(query, "limit", fallback));
  return std::min(limit, largest);
}

std::expected<Sort, Failure> read_sort(const Query& query, std::span<const std::string_view> fields,
                                       const Sort& fallback) {
  const auto text = query.get("sort");
  if (!text || text->empty()) return fallback;
  const bool descending = text->starts_with('-');
  const std::string_view field = text->substr(descending ? 1 : 0);
  if (std::ranges::find(fields, field) == fields.end())
    return std::unexpected(Failure{
        422,
        fmt::format("the parameter sort must be one of {}; a leading - reverses the order", fmt::join(fields, ", "))});
  return Sort{std::string(field), descending};
}

void write_pagination(json::Writer& writer, const Page& page, std::uint64_t on_this_page, std::uint64_t total) {
  writer.object("pagination", [&] {
    writer.member("page", page.number);
    writer.member("page_size", page.size);
    writer.member("current_page_size", on_this_page);
    writer.member("total_pages", (total + page.size - 1) / page.size);
    writer.member("total_results", total);
  });
}

std::string with_parameter(const Query& query, std::string_view name, std::string_view value) {
  std::string out;
  bool written = false;
  for (const auto& [key, old] : query.pairs()) {
    if (key != name) {
      paging_detail::append_pair(out, key, old);
    } else if (!std::exchange(written, true)) {
      paging_detail::append_pair(out, name, value);
    }
  }
  if (!written) paging_detail::append_pair(out, name, value);
  return out;
}

void add_page_headers(Headers& headers, std::string_view url, const Query& query, const PageNames& names,
                      const Page& page, std::uint64_t total) {
  headers.emplace_back("X-Total-Count", std::to_string(total));
  const std::uint64_t last = std::max<std::uint64_t>(1, (total + page.size - 1) / page.size);
  std::string links;
  const auto add = [&](std::uint64_t number, std::string_view relation) {
    if (!links.empty()) links += ",";
    links +=
        fmt::format("<{}?{}>; rel=\"{}\"", url, with_parameter(query, names.number, std::to_string(number)), relation);
  };
  if (page.number < last) {
    add(page.number + 1, "next");
    add(last, "last");
  }
  if (page.number > 1) {
    add(1, "first");
    add(std::min(page.number - 1, last), "prev");
  }
  if (!links.empty()) headers.emplace_back("Link", std::move(links));
}

void add_next_link(Headers& headers, std::string_view url, const Query& query, std::string_view cursor_name,
                   std::string_view cursor) {
  headers.emplace_back("Link", fmt::format("<{}?{}>; rel=\"next\"", url, with_parameter(query, cursor_name, cursor)));
}

}  // namespace stackgate::web
