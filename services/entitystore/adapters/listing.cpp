#include "services/entitystore/adapters/listing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/render.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/fnv.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/conditional.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::entitystore {
namespace listing_detail {

constexpr std::uint64_t usual_page = 100, largest_page = 1000;
constexpr std::uint64_t largest_count = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t longest_shown = 100;
constexpr std::array<std::string_view, 12> parameters = {"status", "base_model", "name",          "namespace",
                                                         "tag",    "search",     "updated_since", "latest",
                                                         "expand", "sort",       "page",          "page_size"};
constexpr std::array<std::string_view, 6> sort_fields = {"created_at", "updated_at", "name",
                                                         "version",    "base_model", "status"};

void add(validate::Findings& out, std::string_view parameter, std::string_view value, std::string problem,
         std::string fix) {
  out.push_back({.rule = web::query_rule,
                 .path = fmt::format("query.{}", parameter),
                 .value = std::string(value),
                 .problem = std::move(problem),
                 .fix = std::move(fix)});
}

void statuses(std::string_view list, ListQuery& out, validate::Findings& findings) {
  while (true) {
    const auto comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    if (const auto status = parse_status(word))
      out.statuses.push_back(*status);
    else
      add(findings, "status", word, "is no status", fmt::format("write one of {}", fmt::join(status_words, ", ")));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

/// "2026-01-02T03:04:05[.678][Z]" or a date; comparable with timestamps as a text then.
bool is_time(std::string_view text) {
  constexpr std::string_view form = "0000-00-00T00:00:00";
  if (text.size() != 10 && text.size() < form.size()) return false;
  for (std::size_t i = 0; i < std::min(text.size(), form.size()); ++i)
    if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i]) return false;
  std::string_view rest = text.substr(std::min(text.size(), form.size()));
  if (rest.ends_with('Z')) rest.remove_suffix(1);
  return rest.empty() || (rest[0] == '.' && rest.size() > 1 &&
                          std::ranges::all_of(rest.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

bool flag(const web::Query& query, std::string_view name, validate::Findings& findings) {
  const auto text = query.get(name);
  if (!text) return false;
  if (*text != "true" && *text != "false" && !text->empty() && *text != "1" && *text != "0")
    add(findings, name, *text, "is neither true nor false", "write true or false");
  return *text == "true" || text->empty() || *text == "1";
}

/// As read_page() takes it: nothing, or a number from 1.
bool is_count(std::string_view text) {
  const std::uint64_t number = to_number<std::uint64_t>(text).value_or(0);
  return text.empty() || (number > 0 && number <= largest_count);
}

/// A filter with a slip of the pen in its name must not be answered with everything.
void refuse_unknown(const web::Query& query, validate::Findings& findings) {
  for (const auto& [name, value] : query.pairs()) {
    if (std::ranges::find(parameters, name) != parameters.end()) continue;
    const std::string_view near = validate::nearest(name, parameters);
    add(findings, std::string_view(name).substr(0, longest_shown), {}, "is no parameter of this list",
        near.empty() ? fmt::format("the parameters are {}", fmt::join(parameters, ", "))
                     : fmt::format("write {}, or leave it out", near));
  }
}

bool passes(const Record& r, const ListQuery& q) {
  if (!q.statuses.empty() && std::ranges::find(q.statuses, r.status) == q.statuses.end()) return false;
  if (!q.updated_since.empty() && r.updated_at < q.updated_since) return false;
  if (!q.name.empty() && !ascii::equal_ignoring_case(r.name, q.name)) return false;
  if (!q.name_space.empty() && !ascii::equal_ignoring_case(r.name_space, q.name_space)) return false;
  if (!q.base_model.empty() && !ascii::equal_ignoring_case(r.base_model, q.base_model)) return false;
  if (!q.tag.empty() && std::ranges::find(r.tags, q.tag) == r.tags.end()) return false;
  if (q.search.empty()) return true;
  const std::string wanted = ascii::to_lower(q.search);
  return ascii::to_lower(r.name).contains(wanted) || ascii::to_lower(r.base_model).contains(wanted) ||
         ascii::to_lower(r.description).contains(wanted);
}

std::vector<const Listed*> newest_of_each(const std::vector<const Listed*>& rows) {
  std::map<std::string, const Listed*> best;
  for (const Listed* row : rows) {
    const Listed*& at = best[ascii::to_lower(row->record.name_space) + "/" + ascii::to_lower(row->record.name)];
    if (at == nullptr || compare(at->version, row->version) <= 0) at = row;
  }
  std::vector<const Listed*> out;
  for (const Listed* row : rows)
    if (best.at(ascii::to_lower(row->record.name_space) + "/" + ascii::to_lower(row->record.name)) == row)
      out.push_back(row);
  return out;
}

using Less = bool (*)(const Listed&, const Listed&);
Less order_by(std::string_view field) {
  if (field == "updated_at")
    return [](const Listed& a, const Listed& b) { return a.record.updated_at < b.record.updated_at; };
  if (field == "name") return [](const Listed& a, const Listed& b) { return a.record.name < b.record.name; };
  if (field == "version") return [](const Listed& a, const Listed& b) { return compare(a.version, b.version) < 0; };
  if (field == "base_model")
    return [](const Listed& a, const Listed& b) { return a.record.base_model < b.record.base_model; };
  if (field == "status")
    return [](const Listed& a, const Listed& b) { return to_string(a.record.status) < to_string(b.record.status); };
  return nullptr;  // created_at: as they come
}

}  // namespace listing_detail

std::expected<ListQuery, web::Failure> read_list_query(const web::Query& query, Unknown unknown) {
  namespace d = listing_detail;
  ListQuery out;
  validate::Findings findings;
  for (const std::string_view list : query.all("status"))
    if (!list.empty()) d::statuses(list, out, findings);
  const auto text = [&](std::string_view name) { return std::string(query.get(name).value_or("")); };
  out.base_model = text("base_model");
  out.name = text("name");
  out.name_space = text("namespace");
  out.tag = text("tag");
  out.search = text("search");
  out.updated_since = text("updated_since");
  if (!out.updated_since.empty() && !d::is_time(out.updated_since))
    d::add(findings, "updated_since", out.updated_since, "is no time", "write, for example, 2026-01-31T12:00:00Z");
  if (out.updated_since.ends_with('Z')) out.updated_since.pop_back();
  out.latest = d::flag(query, "latest", findings);
  out.expanded = d::flag(query, "expand", findings);
  if (query.get("sort")) {
    auto sort = web::read_sort(query, d::sort_fields, out.sort);
    if (sort)
      out.sort = *sort;
    else
      d::add(findings, "sort", text("sort"), "is no field to sort by",
             fmt::format("write one of {}, with \"-\" before it for descending", fmt::join(d::sort_fields, ", ")));
  }
  bool counted = true;
  for (const std::string_view name : {web::nemo_pages.number, web::nemo_pages.size}) {
    if (d::is_count(query.get(name).value_or(""))) continue;
    counted = false;
    d::add(findings, name, text(name), fmt::format("is no number from 1 to {}", d::largest_count),
           name == web::nemo_pages.number ? "count pages from 1"
                                          : fmt::format("write how many to a page, at most {}", d::largest_page));
  }
  if (counted && (query.get("page") || query.get("page_size")))
    if (const auto page = web::read_page(query, web::nemo_pages, d::usual_page, d::largest_page)) out.page = *page;
  if (unknown == Unknown::refused) d::refuse_unknown(query, findings);
  if (!findings.empty()) return std::unexpected(web::unprocessable(std::move(findings)));
  return out;
}

ListedPtr make_listed(Record record) {
  auto out = std::make_shared<Listed>();
  out->summary = to_summary(record);
  out->version = parse_semantic_version(record.version).value_or(SemanticVersion{});
  // The detail form changes with updated_at at the latest, which every change of a row sets.
  out->mark = fnv1a(fmt::format("{}{}{}{}", record.id, to_string(record.status), record.updated_at, record.changed));
  out->record = std::move(record);
  return out;
}

Selection select(const std::vector<ListedPtr>& all, const ListQuery& query) {
  namespace d = listing_detail;
  Selection out;
  out.rows.reserve(all.size());
  for (const ListedPtr& row : all)
    if (d::passes(row->record, query)) out.rows.push_back(row.get());
  if (query.latest) out.rows = d::newest_of_each(out.rows);
  if (const d::Less less = d::order_by(query.sort.field)) {
    const bool down = query.sort.descending;
    std::ranges::stable_sort(
        out.rows, [less, down](const Listed* a, const Listed* b) { return down ? less(*b, *a) : less(*a, *b); });
  } else if (query.sort.descending) {
    std::ranges::reverse(out.rows);
  }
  out.total = out.rows.size();
  if (query.page) {
    const std::uint64_t begin =
        query.page->number - 1 > out.total / query.page->size ? out.total : query.page->offset();
    const std::uint64_t first = std::min<std::uint64_t>(begin, out.total);
    const std::uint64_t last = std::min<std::uint64_t>(first + query.page->size, out.total);
    out.rows = std::vector<const Listed*>(out.rows.begin() + static_cast<std::ptrdiff_t>(first),
                                          out.rows.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return out;
}

std::string etag_of(const Selection& selection, std::int64_t period) {
  std::string marks;
  marks.reserve(8 * (selection.rows.size() + 1));
  const auto put = [&marks](std::uint64_t number) {
    marks.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put(selection.total);
  for (const Listed* row : selection.rows) put(row->mark);
  if (period != 0) put(static_cast<std::uint64_t>(period));
  const crypto::Sha256 digest = crypto::sha256(marks);
  return web::make_etag(crypto::to_hex(digest.data(), 12), true);
}

}  // namespace stackgate::entitystore
