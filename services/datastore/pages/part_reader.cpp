#include "services/datastore/pages/part_reader.hpp"

#include <algorithm>

#include "services/kit/base/try.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::pages {

PartReader::PartReader(std::string_view boundary, Source source, const web::MultipartLimits& limits)
    : source_(std::move(source)),
      parser_(boundary,
              {.begin = [this](const web::PartHead& head) -> std::expected<void, web::Failure> {
                 events_.emplace_back(head);
                 return {};
               },
               .data = [this](std::string_view bytes) -> std::expected<void, web::Failure> {
                 if (!bytes.empty()) events_.emplace_back(std::string(bytes));
                 return {};
               },
               .end = [this]() -> std::expected<void, web::Failure> {
                 events_.emplace_back(End{});
                 return {};
               }},
              limits),
      buffer_(std::size_t{64} * 1024, '\0') {}

std::expected<bool, web::Failure> PartReader::fill() {
  while (events_.empty() && !ended_) {
    const auto got = source_(buffer_);
    if (!got) return std::unexpected(web::to_failure(got.error()));
    ended_ = *got == 0;
    TRY(ended_ ? parser_.finish() : parser_.add(std::string_view(buffer_).substr(0, *got)));
  }
  return !events_.empty();
}

std::expected<std::optional<web::PartHead>, web::Failure> PartReader::next() {
  for (;;) {
    const auto more = TRY(fill());
    if (!more) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    used_ = 0;
    if (auto* head = std::get_if<web::PartHead>(&event)) return std::move(*head);
  }
}

std::expected<std::size_t, web::Failure> PartReader::read(std::span<char> space) {
  const auto more = TRY(fill());
  if (!more) return 0;
  const auto* text = std::get_if<std::string>(&events_.front());
  if (text == nullptr) return 0;  // the end stays until next() takes it
  const std::size_t count = std::min(space.size(), text->size() - used_);
  std::copy_n(text->data() + used_, count, space.data());
  used_ += count;
  if (used_ == text->size()) {
    events_.pop_front();
    used_ = 0;
  }
  return count;
}

std::expected<std::string, web::Failure> PartReader::read_all(std::size_t most) {
  std::string out, piece(std::min<std::size_t>(most + 1, 16 * 1024), '\0');
  for (;;) {
    const auto got = TRY(read(piece));
    if (got == 0) return out;
    out.append(piece, 0, got);
    if (out.size() > most)
      return std::unexpected(web::Failure{.status = 413, .message = "a field of the form is too long"});
  }
}

}  // namespace stackgate::datastore::pages
