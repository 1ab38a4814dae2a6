// The lines of a commit (application/x-ndjson), one at a time as they arrive: no more than one line is held. Pure but
// for the reader that it is given.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/http/body.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::datastore::hub {

struct CommitLine {
  enum class Kind : std::uint8_t { header, file, lfs_file, deleted_file, deleted_folder };
  Kind kind = Kind::header;
  std::string summary{}, description{}, parent{};  // header
  std::string path{};
  std::string content{};   // file: decoded
  std::string oid{};       // lfs_file
  std::uint64_t size = 0;  // likewise
};

/// The failure (400, 413, 422) does not name the line's number: the caller knows it. `largest`: of a file's content.
std::expected<CommitLine, web::Failure> parse_commit_line(std::string_view text, std::uint64_t largest);

/// Fills a part of the space; 0 is the end.
using ReadMore = std::function<std::expected<std::size_t, http::BodyError>(std::span<char>)>;

class CommitLines {
 public:
  CommitLines(ReadMore read, std::uint64_t largest_file);
  /// Nothing at the end. Empty lines are passed over; the last one may lack its line break.
  std::expected<std::optional<CommitLine>, web::Failure> next();
  std::size_t number() const { return number_; }  // of the line that came last, from 1

 private:
  std::expected<bool, web::Failure> fill();

  const ReadMore read_;
  const std::uint64_t largest_file_;
  const std::size_t longest_line_;
  std::string buffer_;
  std::size_t begin_ = 0, scanned_ = 0;
  bool ended_ = false;
  std::size_t number_ = 0;
};

}  // namespace stackgate::datastore::hub
