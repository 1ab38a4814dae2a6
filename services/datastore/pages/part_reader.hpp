// A multipart body read part by part: what the parser pushes, handed out on demand. Holds no more than one piece of the
// body.
#pragma once
#include <cstddef>
#include <deque>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "services/kit/http/body.hpp"
#include "services/kit/web/multipart.hpp"

namespace stackgate::datastore::pages {

class PartReader {
 public:
  /// The next bytes of the body; 0 is its end.
  using Source = std::function<std::expected<std::size_t, http::BodyError>(std::span<char>)>;
  PartReader(std::string_view boundary, Source source, const web::MultipartLimits& limits);

  /// The next part's head, whatever was left of the one before; nothing after the last.
  std::expected<std::optional<web::PartHead>, web::Failure> next();
  /// Bytes of this part; 0 is its end.
  std::expected<std::size_t, web::Failure> read(std::span<char> space);
  /// All of it; 413 beyond `most`.
  std::expected<std::string, web::Failure> read_all(std::size_t most);

 private:
  struct End {};
  using Event = std::variant<web::PartHead, std::string, End>;
  /// Until there is an event; false at the end of the body.
  std::expected<bool, web::Failure> fill();

  Source source_;
  std::deque<Event> events_;
  web::MultipartParser parser_;
  std::string buffer_;
  std::size_t used_ = 0;  // of the text at the front
  bool ended_ = false;
};

}  // namespace stackgate::datastore::pages
