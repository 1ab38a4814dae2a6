#include "services/kit/datastore_client/datasets.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore_client {
namespace datasets_detail {

constexpr unsigned pages_of_files = 100;

std::unexpected<DatastoreError> wrong(int status, std::string message) {
  return std::unexpected(DatastoreError{.away = false, .status = status, .message = std::move(message)});
}

std::unexpected<DatastoreError> not_given(std::string_view what, int status, std::string_view body) {
  std::string why = wire::reason_of(body);
  if (why.empty()) why = fmt::format("status {}", status);
  return std::unexpected(DatastoreError{.away = status >= 500 || status == 429,
                                        .status = status,
                                        .message = fmt::format("the datastore did not give {}: {}", what, why)});
}

http_client::Options client_options(const DatasetOptions& options) {
  return {.connect = options.patience / 2, .pause = options.transfer_pause, .retries = 2, .user_agent = "stackgate"};
}

}  // namespace datasets_detail

using namespace datasets_detail;

Datasets::Datasets(DatasetOptions options)
    : options_(std::move(options)), base_(wire::base_of(options_.url)), client_(client_options(options_)) {
  if (!options_.token.empty())
    authorization_ = "Bearer " + options_.token;
  else if (!options_.username.empty() || !options_.password.empty())
    authorization_ = "Basic " + base64::encode(fmt::format("{}:{}", options_.username, options_.password));
}

FromDatastore<http_client::Response> Datasets::ask(std::string url, std::chrono::milliseconds whole) const {
  http_client::Request call{.url = std::move(url), .whole = whole, .give_up = options_.give_up};
  if (!authorization_.empty()) call.headers.emplace_back("Authorization", authorization_);
  auto reply = client_.call(call);
  if (!reply) return std::unexpected(unanswered(reply.error().message));
  return std::move(*reply);
}

FromDatastore<std::optional<std::string>> Datasets::pin(std::string_view repository, std::string_view revision) const {
  const std::string_view wanted = revision.empty() ? "main" : revision;
  const auto reply = TRY(ask(wire::dataset_url(base_, repository, fmt::format("/revision/{}", percent_encode(wanted))),
                             options_.patience));
  if (reply.status == 404 || reply.status == 401) return std::optional<std::string>();
  if (reply.status >= 300) return not_given(fmt::format("the data set {}", repository), reply.status, reply.body);
  auto commit = wire::read_commit_of(reply.body);
  if (!commit) return wrong(200, std::move(commit.error()));
  return std::optional(std::move(*commit));
}

FromDatastore<std::vector<wire::TreeFile>> Datasets::files(std::string_view repository, std::string_view commit) const {
  std::vector<wire::TreeFile> out;
  const std::string url = wire::dataset_url(base_, repository, fmt::format("/tree/{}", percent_encode(commit)));
  std::optional<std::string> query = "recursive=true";
  for (unsigned page = 0; query && page < pages_of_files; ++page) {
    const auto reply = TRY(ask(fmt::format("{}?{}", url, *query), options_.patience));
    if (reply.status >= 300) return not_given(fmt::format("the files of {}", repository), reply.status, reply.body);
    auto some = wire::read_tree(reply.body);
    if (!some) return wrong(200, std::move(some.error()));
    out.insert(out.end(), std::make_move_iterator(some->begin()), std::make_move_iterator(some->end()));
    query = wire::next_query(reply.header("Link").value_or(""));
  }
  return out;
}

FromDatastore<http_client::Answer> Datasets::open(std::string_view repository, std::string_view commit,
                                                  std::string_view path, std::string_view range) const {
  const auto opened = [&](std::string url, bool ours) -> FromDatastore<http_client::Answer> {
    http_client::Request call{.url = std::move(url),
                              .pieces = range.empty() ? http_client::Pieces::large : http_client::Pieces::usual};
    if (!range.empty()) call.headers.emplace_back("Range", range);
    if (ours && !authorization_.empty()) call.headers.emplace_back("Authorization", authorization_);
    auto answer = client_.open(call);
    if (!answer) return std::unexpected(unanswered(answer.error().message));
    return std::move(*answer);
  };
  auto answer = TRY(opened(wire::dataset_file_url(base_, repository, commit, path), true));
  const int status = answer.head().status;
  if (status >= 301 && status <= 308) {
    const std::string location(answer.head().header("Location").value_or(""));
    const std::string_view origin = std::string_view(base_).substr(0, base_.find('/', base_.find("://") + 3));
    if (location.starts_with('/'))
      answer = TRY(opened(std::string(origin) + location, true));
    else if (location.starts_with("http://") || location.starts_with("https://"))
      answer = TRY(opened(location, location.starts_with(std::string(origin) + "/")));
  }
  if (answer.head().status < 300) return answer;
  return not_given(fmt::format("{} of {}", path, repository), answer.head().status, {});
}

FromDatastore<std::string> Datasets::read(std::string_view repository, std::string_view commit, std::string_view path,
                                          std::uint64_t largest) const {
  auto answer = TRY(open(repository, commit, path));
  std::string out;
  std::array<char, 65'536> space;
  for (;;) {
    const auto count = answer.read(space);
    if (!count) return std::unexpected(unanswered(count.error().message));
    if (*count == 0) return out;
    if (out.size() + *count > largest)
      return wrong(200, fmt::format("{} of {} is larger than {} bytes", path, repository, largest));
    out.append(space.data(), *count);
  }
}

FromDatastore<std::string> Datasets::read_end(std::string_view repository, std::string_view commit,
                                              std::string_view path, std::uint64_t most) const {
  auto answer = TRY(open(repository, commit, path, fmt::format("bytes=-{}", most)));
  std::string out;
  std::array<char, 65'536> space;
  for (;;) {
    if (options_.give_up && options_.give_up()) return std::unexpected(unanswered("stopped"));
    const auto count = answer.read(space);
    if (!count) return std::unexpected(unanswered(count.error().message));
    if (*count == 0) break;
    out.append(space.data(), *count);
    // A server without ranges gives all of it.
    if (out.size() > 2 * most) out.erase(0, out.size() - most);
  }
  if (out.size() > most) out.erase(0, out.size() - most);
  return out;
}

FromDatastore<void> Datasets::read_lines(std::string_view repository, std::string_view commit, std::string_view path,
                                         std::size_t longest, const std::function<bool(std::string_view)>& each) const {
  auto answer = TRY(open(repository, commit, path));
  wire::LineSplitter lines(longest);
  std::array<char, 65'536> space;
  for (;;) {
    if (options_.give_up && options_.give_up()) return std::unexpected(unanswered("stopped"));
    const auto count = answer.read(space);
    if (!count) return std::unexpected(unanswered(count.error().message));
    const bool more = *count == 0 ? lines.end(each) : lines.feed({space.data(), *count}, each);
    if (lines.too_long())
      return wrong(200, fmt::format("line {} of {} is longer than {} bytes", lines.number() + 1, path, longest));
    if (!more || *count == 0) return {};
  }
}

}  // namespace stackgate::datastore_client
