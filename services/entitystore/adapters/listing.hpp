// What GET /v1/adapters asks for, and which records answer it. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/entitystore/adapters/record.hpp"
#include "services/kit/base/semantic_version.hpp"
#include "services/kit/web/paging.hpp"

namespace stackgate::entitystore {

struct ListQuery {
  std::vector<Status> statuses{};  // any of them; empty: all
  std::string base_model{}, name{}, name_space{}, tag{}, search{}, updated_since{};
  bool latest = false;    // of each adapter the highest version that passes the filters
  bool expanded = false;  // details instead of summaries
  web::Sort sort{"created_at", false};
  std::optional<web::Page> page{};  // nothing: the whole list, as the specification has it
};

enum class Unknown : std::uint8_t { refused, let_be };

/// status (repeated or with commas), base_model, name, namespace, tag, search, updated_since, latest, expand, sort,
/// page, page_size. 422 names every wrong one, and every other one where those are refused.
std::expected<ListQuery, web::Failure> read_list_query(const web::Query& query, Unknown unknown = Unknown::refused);

/// A record with what lists need of it, made once.
struct Listed {
  Record record;
  SemanticVersion version;
  std::string summary;     // to_summary()
  std::uint64_t mark = 0;  // differs when the record does
};
using ListedPtr = std::shared_ptr<const Listed>;
ListedPtr make_listed(Record record);

struct Selection {
  std::vector<const Listed*> rows;  // of the page
  std::uint64_t total = 0;          // of all pages
};
/// `all` is in order of creation.
Selection select(const std::vector<ListedPtr>& all, const ListQuery& query);

/// The entity tag of a list: the same on every replica, and only another when an answer to this query is.
/// `period`: of answers that run out with the time, a number that is another one by then; 0 for all others.
std::string etag_of(const Selection& selection, std::int64_t period = 0);

}  // namespace stackgate::entitystore
