#include "services/guardrail/store/folder.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "services/kit/base/fnv.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::guardrail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view rule = "configuration-file";

bool may_belong(std::string_view name) {
  return name == ".railsignore" || name.ends_with(".yml") || name.ends_with(".yaml") || name.ends_with(".co") ||
         name.ends_with(".py") || name.ends_with(".md");
}

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

class Walk {
 public:
  Walk(const fs::path& top, const FolderLimits& limits, Listing& out) : top_(top), limits_(limits), out_(out) {}

  void folder(const fs::path& at, const std::string& prefix, unsigned depth) {
    std::error_code error;
    fs::directory_iterator entries(at, error);
    if (error) return problem(prefix, "cannot be read: " + error.message(), "let the server's user read it");
    for (const fs::directory_iterator end; entries != end; entries.increment(error)) {
      if (error) return problem(prefix, "cannot be read: " + error.message(), "let the server's user read it");
      if (++seen_ > limits_.entries) {
        if (seen_ == limits_.entries + 1)
          problem(prefix, fmt::format("has more than {} entries", limits_.entries), "keep only configurations here");
        return;
      }
      const std::string name = entries->path().filename();
      if (!name.starts_with('.') || name == ".railsignore") entry(entries->path(), name, prefix, depth);
    }
  }

 private:
  void entry(const fs::path& path, const std::string& name, const std::string& prefix, unsigned depth) {
    const std::string shown = prefix + name;
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) {
      if (may_belong(name)) problem(shown, "leads nowhere", "remove the link, or create its target");
      return;
    }
    const bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && (!S_ISREG(info.st_mode) || !may_belong(name))) return;
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return;  // it went meanwhile
    if (!is_inside(real)) return problem(shown, "is a link that leads out of the folder", "put the file itself there");
    if (is_folder) {
      if (depth >= limits_.depth)
        return problem(shown, fmt::format("is nested more than {} times", limits_.depth), "put it further up");
      return folder(path, shown + "/", depth + 1);
    }
    if (out_.files.size() >= limits_.files) {
      if (!full_)
        problem(shown, fmt::format("is one file more than {}", limits_.files), "keep only configurations here");
      full_ = true;
      return;
    }
    out_.files.push_back({.name = shown,
                          .real = real,
                          .device = info.st_dev,
                          .inode = info.st_ino,
                          .size = static_cast<std::uint64_t>(info.st_size),
                          .modified = nanoseconds(info.st_mtim),
                          .changed = nanoseconds(info.st_ctim)});
  }

  bool is_inside(const fs::path& real) const {
    const auto [in_top, in_real] = std::mismatch(top_.begin(), top_.end(), real.begin(), real.end());
    return in_top == top_.end() && in_real != real.end();
  }

  void problem(const std::string& path, std::string what, std::string fix) {
    out_.findings.push_back(
        {.rule = rule, .path = path, .value = {}, .problem = std::move(what), .fix = std::move(fix)});
  }

  const fs::path& top_;
  const FolderLimits& limits_;
  Listing& out_;
  std::size_t seen_ = 0;
  bool full_ = false;
};

std::uint64_t fingerprint_of(const Listing& listing) {
  std::string text;
  for (const FoundFile& each : listing.files)
    text += fmt::format("{}\n{} {} {} {} {} {}\n", each.name, each.real, each.device, each.inode, each.size,
                        each.modified, each.changed);
  for (const validate::Finding& each : listing.findings) text += each.path + "\n" + each.problem + "\n";
  return fnv1a(text);
}

validate::Finding unreadable(const std::string& name, std::string problem, std::string fix) {
  return {.rule = rule, .path = name, .value = {}, .problem = std::move(problem), .fix = std::move(fix)};
}

std::string swap_of(const std::string& folder) {
  std::error_code none;
  return fs::read_symlink(fs::path(folder) / "..data", none);
}

FolderContent read_listed(Listing listing, const FolderLimits& limits) {
  FolderContent out{
      .files = {}, .findings = std::move(listing.findings), .fingerprint = listing.fingerprint, .away = listing.away};
  std::uint64_t total = 0;
  for (const FoundFile& each : listing.files) {
    out.files.push_back({.name = each.name, .text = {}, .shown = each.name});
    total += each.size;
    if (total > limits.total_bytes) {
      out.findings.push_back(unreadable(each.name, fmt::format("is beyond {} bytes of all files", limits.total_bytes),
                                        "keep only configurations here"));
      continue;
    }
    auto text = files::read_file(each.real, limits.file_bytes);
    if (text)
      out.files.back().text = std::move(*text);
    else if (text.error() == EFBIG)
      out.findings.push_back(
          unreadable(each.name, fmt::format("is larger than {} bytes", limits.file_bytes), "make several files of it"));
    else
      out.findings.push_back(unreadable(each.name, "cannot be read: " + std::generic_category().message(text.error()),
                                        "let the server's user read it"));
  }
  return out;
}

}  // namespace

Listing list_folder(const std::string& folder, const FolderLimits& limits) {
  Listing out;
  std::error_code error;
  const fs::path top = fs::canonical(folder, error);
  out.away = static_cast<bool>(error);
  if (error)
    out.findings.push_back(unreadable({}, fmt::format("the folder {} cannot be read: {}", folder, error.message()),
                                      "create it, or mount a volume there"));
  else
    Walk(top, limits, out).folder(top, {}, 0);
  std::ranges::sort(out.files, {}, &FoundFile::name);
  std::ranges::sort(out.findings, {}, &validate::Finding::path);
  out.fingerprint = fingerprint_of(out);
  return out;
}

FolderContent read_folder(const std::string& folder, const FolderLimits& limits) {
  constexpr int tries = 5;
  FolderContent out;
  for (int i = 0; i < tries; ++i) {
    const std::string swap = swap_of(folder);
    out = read_listed(list_folder(folder, limits), limits);
    if (swap_of(folder) == swap) break;
  }
  return out;
}

std::map<std::string, std::vector<File>> configurations_of(const std::vector<File>& files) {
  std::vector<File> top, below;
  for (const File& each : files) (each.name.contains('/') ? below : top).push_back(each);
  if (std::ranges::none_of(top, [](const File& each) { return each.name.contains("__"); }))
    return split_by_configuration(files, false);
  auto out = configurations_of_config_map(top);
  out.merge(split_by_configuration(below, false));
  return out;
}

}  // namespace stackgate::guardrail
