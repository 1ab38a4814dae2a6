// Files from a browser, committed as they arrive: small ones into Git, large ones into LFS; none is held whole.
#include <set>

#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/lfs/attributes.hpp"
#include "services/datastore/lfs/attributes_commit.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/part_reader.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/datastore/pages/words.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::pages {
namespace upload_detail {

constexpr std::size_t most_files = 1000;
/// What Git keeps as it is must fit into memory.
constexpr std::uint64_t largest_regular = 16ULL << 20U;

web::Answer form_page(Visit& visit, Place& place, std::string_view problem, int status) {
  Html body;
  const Link here = link_to(place.repository, "upload", place.revision, place.path);
  body.put(R"({}{}<div class="bar"><h2>Upload to</h2>{}<span class="badge">{}</span></div>
<form class="form" method="post" enctype="multipart/form-data" action="{}" data-upload>{}
<div class="field"><label for="folder">Folder</label><input id="folder" name="folder" value="{}" placeholder="the top of the repository" maxlength="1000" autocapitalize="none" spellcheck="false"></div>
<div class="field"><label for="message">Commit message</label><input id="message" name="message" maxlength="500" placeholder="Add files"></div>
<div class="field drop"><label for="files">Choose files, or drop them here</label><input id="files" type="file" name="files" multiple required><p class="hint" data-chosen></p></div>
<p class="hint quiet">Files above {} go to Git LFS.</p>
<p><progress hidden aria-label="Upload"></progress> <span data-status role="status"></span></p>
<button class="primary" type="submit">Commit files</button></form>)",
           problem_notice(problem), repository_head(place, Tab::files), crumbs(place, true), place.revision, here,
           token_field(visit), place.path, size_words(visit.backend().lfs_threshold));
  return page(visit, {.title = "Upload · " + place.repository.full_name(), .status = status, .connects = true}, body);
}

/// Parts of the form turned into changes.
class UploadedFiles {
 public:
  UploadedFiles(const Visit& visit, const Place& place, PartReader& parts, web::PartHead first, std::string folder)
      : visit_(visit),
        place_(place),
        parts_(parts),
        head_(std::move(first)),
        folder_(std::move(folder)),
        seen_(lfs::text_at(*place.git, place.commit, lfs::attributes_path).value_or("")),
        attributes_(seen_) {}

  git::Expected<bool> next(git::Change& change) {
    for (;;) {
      if (ended_) return false;
      if (!head_) {
        auto head = parts_.next();
        if (!head) return stop(std::move(head.error()));
        head_ = std::move(*head);
      }
      if (!head_) {
        ended_ = true;
        return last(change);
      }
      const web::PartHead head = std::move(*head_);
      head_.reset();
      // A field that no file was chosen for is sent with an empty name.
      if (head.name != "files" || !head.file_name || head.file_name->empty()) continue;
      return take(std::string(file_name(*head.file_name)), change);
    }
  }
  std::optional<web::Failure> failure{};
  const std::set<std::string>& large() const { return large_; }
  const std::string& seen() const { return seen_; }

 private:
  std::unexpected<git::GitError> stop(web::Failure why) {
    failure = std::move(why);
    return std::unexpected(git::GitError{git::Fault::invalid, failure->message});
  }
  git::Expected<bool> take(const std::string& name, git::Change& change) {
    const std::string path = folder_.empty() ? name : folder_ + "/" + name;
    if (const auto fault = git::fault_of_path(path)) return stop({.status = 422, .message = path + ": " + *fault});
    if (++count_ > most_files)
      return stop({.status = 413, .message = "at most " + std::to_string(most_files) + " files go into one upload"});
    const std::optional<bool> by_name = lfs::Attributes::parse(attributes_).in_lfs(path);
    const std::uint64_t limit =
        by_name ? (*by_name ? 0 : largest_regular) : std::min(visit_.backend().lfs_threshold, largest_regular);
    std::string begin(static_cast<std::size_t>(limit) + 1, '\0');
    std::size_t have = 0;
    while (have < begin.size()) {
      const auto got = parts_.read(std::span(begin).subspan(have));
      if (!got) return stop(got.error());
      if (*got == 0) break;
      have += *got;
    }
    begin.resize(have);
    change = {.path = path};
    if (have <= limit) {
      change.content = std::move(begin);
      if (path == lfs::attributes_path) attributes_ = change.content;
      return true;
    }
    return take_large(path, std::move(begin), change);
  }
  git::Expected<bool> take_large(const std::string& path, std::string begin, git::Change& change) {
    std::size_t given = 0;
    std::optional<web::Failure> broken;
    const lfs::Source source = [&](std::span<char> space) -> lfs::Expected<std::size_t> {
      if (given < begin.size()) {
        const std::size_t count = std::min(space.size(), begin.size() - given);
        std::copy_n(begin.data() + given, count, space.data());
        given += count;
        return count;
      }
      auto got = parts_.read(space);
      if (got) return *got;
      broken = std::move(got.error());
      return std::unexpected(
          ServiceError{.fault = ServiceFault::body, .message = broken->message, .status = broken->status});
    };
    const auto taken = visit_.backend().large_files.take_in(place_.repository.id, 0, source);
    if (broken) return stop(std::move(*broken));
    if (!taken) {
      web::Failure why = to_failure(taken.error());
      why.message = path + ": " + why.message;
      return stop(std::move(why));
    }
    change.content = git::format_lfs_pointer(taken->oid, taken->size);
    large_.insert(path);
    return true;
  }
  /// After the files: .gitattributes, if a large one needs a line there.
  git::Expected<bool> last(git::Change& change) {
    std::string covering = lfs::attributes_for(attributes_, large_);
    if (covering == attributes_) return false;
    change = {.path = std::string(lfs::attributes_path), .content = std::move(covering)};
    return true;
  }

  const Visit& visit_;
  const Place& place_;
  PartReader& parts_;
  std::optional<web::PartHead> head_;
  const std::string folder_;
  const std::string seen_;  // .gitattributes as the upload began
  std::string attributes_;
  std::set<std::string> large_;
  std::size_t count_ = 0;
  bool ended_ = false;
};

struct Fields {
  std::string folder, message;
  std::optional<web::PartHead> first_file;
};

/// What stands before the files; the token must be there before any byte of a file is kept.
std::expected<Fields, web::Failure> read_fields(const Visit& visit, PartReader& parts) {
  Fields out;
  std::string token;
  for (;;) {
    auto head = TRY(parts.next());
    const bool is_file = head && head->file_name;
    if (!head || is_file) {
      TRY(check_form_token(visit, token));
      out.first_file = std::move(head);
      return out;
    }
    auto text = TRY(parts.read_all(4096));
    if (head->name == "token")
      token = std::move(text);
    else if (head->name == "folder")
      out.folder = std::move(text);
    else if (head->name == "message")
      out.message = std::move(text);
  }
}

std::string clean_folder(std::string_view folder) {
  while (folder.starts_with('/') || folder.starts_with(' ')) folder.remove_prefix(1);
  while (folder.ends_with('/') || folder.ends_with(' ')) folder.remove_suffix(1);
  return std::string(folder);
}

std::expected<Place, web::Answer> enter_branch(Visit& visit) {
  auto place = enter_revision(visit, Action::write);
  if (place && !place->is_branch)
    return std::unexpected(web::Failure{
        .status = 422, .message = "files are committed to a branch, and \"" + place->revision + "\" is not a branch"});
  return place;
}

}  // namespace upload_detail

web::Answer get_upload(Visit& visit) {
  auto place = upload_detail::enter_branch(visit);
  if (!place) return std::move(place.error());
  return upload_detail::form_page(visit, *place, "", 200);
}

web::Answer post_upload(Visit& visit) {
  using namespace upload_detail;
  auto boundary = TRY(web::multipart_boundary(visit.call.request().header("Content-Type")));
  PartReader parts(boundary, [&](std::span<char> space) { return visit.call.stream().read(space); },
                   {.parts = most_files + 20});
  auto fields = TRY(read_fields(visit, parts));
  auto place = enter_branch(visit);
  if (!place) return std::move(place.error());
  if (!fields.first_file) return form_page(visit, *place, "Choose a file first.", 422);
  const std::string folder = clean_folder(fields.folder);
  if (!folder.empty())
    if (const auto fault = git::fault_of_path(folder)) return form_page(visit, *place, folder + ": " + *fault, 422);

  std::string message = fields.message.empty() ? "Add files" : fields.message;
  while (message.ends_with('\n') || message.ends_with('\r') || message.ends_with(' ')) message.pop_back();
  const git::Signature who = signature_of(visit.backend(), visit.identity);
  const std::string path = visit.backend().repositories.path(place->repository);
  UploadedFiles files(visit, *place, parts, std::move(*fields.first_file), folder);
  const git::CommitRequest request{
      .branch = place->revision, .message = message + "\n", .author = who, .committer = who};
  const auto done = git::commit_changes(path, request, [&](git::Change& change) { return files.next(change); });
  if (files.failure) return form_page(visit, *place, files.failure->message, files.failure->status);
  if (!done) {
    const web::Failure failure = to_failure(done.error());
    return form_page(visit, *place, failure.message, failure.status);
  }
  lfs::settle_attributes(visit.backend(), place->repository, request, *done, files.seen(), files.large());
  if (auto touched = visit.backend().repositories.touch(place->repository.id); !touched)
    log::warning("a repository's time of change was not noted", {{"problem", touched.error().message}});
  return go_to(visit, with_query(link_to(place->repository, "tree", place->revision, folder), "done",
                                 done->changed ? "uploaded" : "unchanged"));
}

}  // namespace stackgate::datastore::pages
