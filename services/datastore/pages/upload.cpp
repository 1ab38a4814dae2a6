// Files from a browser, committed as they arrive: small ones into Git, large ones into LFS; none is held whole.
#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/write.hpp"
#include "services/datastore/lfs/attributes_commit.hpp"
#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/handlers.hpp"
#include "services/datastore/pages/part_reader.hpp"
#include "services/datastore/pages/place.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::datastore::pages {
namespace upload_detail {

constexpr std::size_t most_files = 1000;
/// What Git keeps as it is must fit into memory.
constexpr std::uint64_t largest_regular = 16ULL << 20U;

web::Answer form_page(Visit& visit, Place& place, std::string_view problem, int status) {
  html::Html body;
  const html::Link here = link_to(place.repository, "upload", place.revision, place.path);
  body.put(R"({}{}<div class="bar"><h2>Upload to</h2>{}<span class="badge">{}</span></div>
<form class="form" method="post" enctype="multipart/form-data" action="{}" data-upload>{}
<div class="field"><label for="folder">Folder</label><input id="folder" name="folder" value="{}" placeholder="the top of the repository" maxlength="1000" autocapitalize="none" spellcheck="false"></div>
<div class="field"><label for="message">Commit message</label><input id="message" name="message" maxlength="500" placeholder="Add files"></div>
<div class="field drop"><label for="files">Choose files, or drop them here</label><input id="files" type="file" name="files" multiple required><p class="hint" data-chosen></p></div>
<p class="hint quiet">Files above {} go to Git LFS.</p>
<p><progress hidden aria-label="Upload"></progress> <span data-status role="status"></span></p>
<button class="primary" type="submit">Commit files</button></form>)",
           problem_notice(problem), repository_head(place, Tab::files), crumbs(place, true), place.revision, here,
           token_field(visit), place.path, html::size_words(visit.backend().lfs_threshold));
  return page(visit, {.title = "Upload · " + place.repository.full_name(), .status = status, .connects = true}, body);
}

/// The pointer of a file that is too large for Git, of which `begin` has been read.
std::expected<std::string, web::Failure> take_large(const Visit& visit, const Place& place, PartReader& parts,
                                                    const std::string& path, std::string_view begin) {
  std::optional<web::Failure> broken;
  const lfs::Source source = [&](std::span<char> space) -> lfs::Expected<std::size_t> {
    if (!begin.empty()) {
      const std::size_t count = begin.copy(space.data(), space.size());
      begin.remove_prefix(count);
      return count;
    }
    auto got = parts.read(space);
    if (got) return *got;
    broken = std::move(got.error());
    return std::unexpected(
        ServiceError{.fault = ServiceFault::body, .message = broken->message, .status = broken->status});
  };
  const auto taken = visit.backend().large_files.take_in(place.repository.id, 0, source);
  if (broken) return std::unexpected(std::move(*broken));
  if (!taken) {
    web::Failure why = to_failure(taken.error());
    why.message = path + ": " + why.message;
    return std::unexpected(std::move(why));
  }
  return git::format_lfs_pointer(taken->oid, taken->size);
}

/// The file of this part, in Git or in LFS as its name or its size says.
std::expected<git::Change, web::Failure> take_file(const Visit& visit, const Place& place, PartReader& parts,
                                                   std::string path, lfs::CommitAttributes& attributes) {
  const std::optional<bool> by_name = attributes.now().in_lfs(path);
  const std::uint64_t limit =
      by_name ? (*by_name ? 0 : largest_regular) : std::min(visit.backend().lfs_threshold, largest_regular);
  git::Change out{.path = std::move(path), .content = std::string(static_cast<std::size_t>(limit) + 1, '\0')};
  std::size_t have = 0;
  while (have < out.content.size()) {
    const auto got = TRY(parts.read(std::span(out.content).subspan(have)));
    if (got == 0) break;
    have += got;
  }
  out.content.resize(have);
  if (have > limit) {
    out.content = TRY(take_large(visit, place, parts, out.path, out.content));
  }
  attributes.add(out, have > limit);
  return out;
}

/// Every file of the form, then .gitattributes if a large one needs a line there.
std::expected<git::Committed, web::Failure> commit_files(const Visit& visit, const Place& place, PartReader& parts,
                                                         std::optional<web::PartHead> head, const std::string& folder,
                                                         const git::CommitRequest& request) {
  lfs::CommitAttributes attributes(*place.git, place.commit);
  git::ChangeSet changes(visit.backend().repositories.path(place.repository));
  const auto add = [&](const git::Change& change) -> std::expected<void, web::Failure> {
    if (auto added = changes.add(change); !added) return std::unexpected(to_failure(added.error()));
    return {};
  };
  for (std::size_t count = 0; head; head = TRY(parts.next())) {
    // A field that no file was chosen for is sent with an empty name.
    if (head->name != "files" || !head->file_name || head->file_name->empty()) continue;
    std::string path = folder.empty() ? folder : folder + "/";
    path += file_name(*head->file_name);
    if (const auto fault = git::fault_of_path(path))
      return std::unexpected(web::Failure{.status = 422, .message = path + ": " + *fault});
    if (++count > most_files)
      return std::unexpected(web::Failure{
          .status = 413, .message = "at most " + std::to_string(most_files) + " files go into one upload"});
    TRY(add(TRY(take_file(visit, place, parts, std::move(path), attributes))));
  }
  if (const auto last = attributes.change()) TRY(add(*last));
  const auto done = changes.commit(request);
  if (!done) return std::unexpected(to_failure(done.error()));
  attributes.settle(visit.backend(), place.repository, request, *done);
  return *done;
}

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
  auto place = TRY(upload_detail::enter_branch(visit));
  return upload_detail::form_page(visit, place, "", 200);
}

web::Answer post_upload(Visit& visit) {
  using namespace upload_detail;
  auto boundary = TRY(web::multipart_boundary(visit.call.request().header("Content-Type")));
  PartReader parts(boundary, [&](std::span<char> space) { return visit.call.stream().read(space); },
                   {.parts = most_files + 20});
  auto fields = TRY(read_fields(visit, parts));
  auto place = TRY(enter_branch(visit));
  if (!fields.first_file) return form_page(visit, place, "Choose a file first.", 422);
  const std::string folder = clean_folder(fields.folder);
  if (!folder.empty())
    if (const auto fault = git::fault_of_path(folder)) return form_page(visit, place, folder + ": " + *fault, 422);

  std::string message = fields.message.empty() ? "Add files" : fields.message;
  while (message.ends_with('\n') || message.ends_with('\r') || message.ends_with(' ')) message.pop_back();
  const git::Signature who = signature_of(visit.backend(), visit.identity);
  const auto done =
      commit_files(visit, place, parts, std::move(fields.first_file), folder,
                   {.branch = place.revision, .message = message + "\n", .author = who, .committer = who});
  if (!done) return form_page(visit, place, done.error().message, done.error().status);
  note_change(visit.backend(), place.repository);
  return go_to(visit, with_query(link_to(place.repository, "tree", place.revision, folder), "done",
                                 done->changed ? "uploaded" : "unchanged"));
}

}  // namespace stackgate::datastore::pages
