#include "services/puller/transfer/source.hpp"

#include <fmt/format.h>

#include "services/kit/base/number.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/datastore_client/wire.hpp"
#include "services/kit/http_client/url.hpp"

namespace stackgate::puller {
namespace source_detail {

constexpr std::uint64_t largest_info = 32U << 20U, largest_page = 32U << 20U, largest_list = 32U << 20U;
constexpr int most_pages = 2000;

}  // namespace source_detail

std::string Source::api_url(std::string_view rest) const {
  const auto make = settings_.is_dataset ? datastore_client::wire::dataset_url : datastore_client::wire::api_url;
  return make(settings_.base, settings_.model.repository, rest);
}

std::string Source::name() const {
  return http_client::without_secrets(settings_.is_directory() ? settings_.base
                                                               : settings_.base + "/" + settings_.model.repository);
}

Result<std::string> Source::resolve() {
  using namespace source_detail;
  if (settings_.is_directory()) {
    list_ = TRY(fetcher_.text(settings_.base + "/" + settings_.checksum_list, largest_list)).body;
    return "sha256:" + crypto::to_hex(crypto::sha256(list_));
  }
  const std::string& revision = settings_.model.revision;
  const std::string rest = revision.empty() ? std::string() : "/revision/" + percent_encode(revision);
  const auto answer = TRY(fetcher_.text(api_url(rest), largest_info));
  commit_ = TRY(read_revision(answer.body));
  return commit_;
}

Result<std::vector<RemoteFile>> Source::list() const {
  if (settings_.is_directory()) return read_checksum_list(list_);
  auto files = TRY(tree());
  TRY(check_listing(files));
  return files;
}

Result<std::vector<RemoteFile>> Source::tree() const {
  using namespace source_detail;
  const std::string url = api_url("/tree/" + commit_);
  std::vector<RemoteFile> out;
  std::string query = "recursive=true";
  for (int page = 0; page < most_pages; ++page) {
    const auto answer = TRY(fetcher_.text(fmt::format("{}?{}", url, query), largest_page));
    auto files = TRY(read_tree_page(answer.body));
    std::ranges::move(files, std::back_inserter(out));
    if (out.size() > most_files) return out;  // the check says so
    // Only its query: the next page is asked of this server, whatever host the link names.
    auto next = datastore_client::wire::next_query(answer.head.header("link").value_or(""));
    if (!next || *next == query) return out;
    query = std::move(*next);
  }
  return std::unexpected(Failure{Cause::bad_answer, "the list of files has no end"});
}

std::string Source::url_of(const RemoteFile& file) const {
  if (settings_.is_directory()) return settings_.base + "/" + percent_encode(file.path, "/");
  const auto make =
      settings_.is_dataset ? datastore_client::wire::dataset_file_url : datastore_client::wire::resolve_url;
  return make(settings_.base, settings_.model.repository, commit_, file.path);
}

Result<void> Source::ask_size(RemoteFile& file) const {
  const std::string url = url_of(file);
  auto answer = TRY(fetcher_.open(url, {}, "HEAD"));
  const int status = answer.head().status;
  if (status == 405 || status == 501) return {};  // no HEAD here: the answer to GET tells the size
  if (status >= 400) return std::unexpected(Fetcher::failure_of(answer, url));
  if (const auto length = answer.head().header("content-length")) file.size = to_number<std::uint64_t>(*length);
  return {};
}

}  // namespace stackgate::puller
