#include "services/datastore/git/scan_references.hpp"

#include <algorithm>
#include <cerrno>
#include <map>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "services/datastore/git/library.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/reference.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

constexpr std::int64_t mark_ages_ns = 2'000'000'000;
constexpr std::uint64_t most_packed_refs = 256U << 20U;
constexpr int symref_depth = 5;  // as git's

struct FoundRef {
  Target target;
  Oid peeled{};
  bool peeled_known = false;  // packed-refs says whether it can be peeled
};
using FoundRefs = std::map<std::string, FoundRef, std::less<>>;

class Scanner {
 public:
  Scanner(const std::string& repository, FactsById& known) : repository_(repository), known_(known) {}

  Expected<Scan> run() {
    for (const char* file : {"/HEAD", "/config", "/shallow", "/objects/info/alternates", "/refs/replace", "/reftable"})
      mark(repository_ + file);
    if (out_.marks[0].second == Mark{})
      return git_error_of(Fault::broken, fmt::format("repository {} cannot be opened: it has no HEAD", repository_));
    const bool linked =
        std::any_of(out_.marks.begin() + 2, out_.marks.end(), [](const auto& m) { return m.second != Mark{}; });
    const auto config = read_file(repository_ + "/config", 1U << 20U);
    out_.unusual = linked || !config || config->find("extensions") != std::string::npos ||
                   config->find("hiderefs") != std::string::npos || config->find("hideRefs") != std::string::npos;
    // Loose before packed: what git packs meanwhile is then found twice, not missed.
    read_loose("refs");
    mark(repository_ + "/packed-refs");
    if (!out_.unusual) read_packed();
    if (out_.unusual) return std::move(out_);
    auto handle = TRY(open_handle(repository_));
    odb_ = TRY(open_objects(handle.get()));
    for (const auto& [name, ref] : found_) show(name, ref);
    show_head();
    return std::move(out_);
  }

 private:
  void mark(const std::string& path) { out_.marks.emplace_back(path, mark_of(path)); }
  void give_up() { out_.unusual = true; }

  void read_loose(const std::string& folder) {
    const std::string path = repository_ + "/" + folder;
    mark(path);
    DIR* open = ::opendir(path.c_str());
    if (open == nullptr) {
      if (errno != ENOENT) give_up();
      return;
    }
    std::vector<std::pair<std::string, bool>> inside;
    while (const dirent* entry = ::readdir(open)) {
      const std::string_view name = entry->d_name;
      if (name.starts_with('.') || name.ends_with(".lock")) continue;
      bool is_folder = entry->d_type == DT_DIR;
      if (entry->d_type != DT_DIR && entry->d_type != DT_REG) {
        struct stat about{};
        if (::lstat(fmt::format("{}/{}", path, name).c_str(), &about) != 0) continue;
        if (!S_ISDIR(about.st_mode) && !S_ISREG(about.st_mode)) give_up();  // symbolic links were references once
        is_folder = S_ISDIR(about.st_mode);
      }
      inside.emplace_back(fmt::format("{}/{}", folder, name), is_folder);
    }
    ::closedir(open);
    for (const auto& [name, is_folder] : inside) {
      if (out_.unusual) return;
      if (is_folder) {
        read_loose(name);
        continue;
      }
      const auto text = read_file(repository_ + "/" + name, 4096);
      if (!text && text.error().fault == Fault::missing) continue;  // packed or deleted meanwhile
      const auto target = text ? parse_reference(*text) : std::nullopt;
      if (!target || !is_reference_name(name)) return give_up();
      found_[name] = {*target};
    }
  }

  void read_packed() {
    const auto text = read_file(repository_ + "/packed-refs", most_packed_refs);
    if (!text) {
      if (text.error().fault != Fault::missing) give_up();
      return;
    }
    bool fully_peeled = false;
    FoundRef* last = nullptr;
    for (std::string_view rest = *text; !rest.empty();) {
      const auto end = rest.find('\n');
      if (end == std::string_view::npos) return give_up();
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (line.starts_with('#')) {
        fully_peeled = line.find(" fully-peeled") != std::string_view::npos;
      } else if (line.starts_with('^')) {
        if (!is_oid(line.substr(1))) return give_up();
        if (last != nullptr) last->peeled = line.substr(1);
      } else {
        last = nullptr;
        if (line.size() < 42 || line[40] != ' ' || !is_oid(line.substr(0, 40)) || !is_reference_name(line.substr(41)))
          return give_up();
        const auto [place, is_new] = found_.try_emplace(std::string(line.substr(41)));
        if (!is_new) continue;  // the loose one counts
        place->second = {{std::string(line.substr(0, 40)), {}}, {}, fully_peeled};
        last = &place->second;
      }
    }
  }

  /// The id at the end of a chain of symbolic references, and the last name; nothing for a broken chain.
  const FoundRef* follow(const FoundRef& from, std::string& last_name) {
    const FoundRef* at = &from;
    for (int depth = 0; !at->target.symbolic.empty(); ++depth) {
      last_name = at->target.symbolic;
      const auto next = found_.find(last_name);
      if (depth == symref_depth || next == found_.end()) return nullptr;
      at = &next->second;
    }
    return at;
  }

  /// Nothing for an object that is not there: git shows no such reference.
  const Facts* facts(const FoundRef& ref) {
    const auto found = known_.find(ref.target.oid);
    if (found != known_.end()) return &found->second;
    git_oid id;
    std::size_t size = 0;
    git_object_t type{};
    if (!from_oid(ref.target.oid, id)) return nullptr;
    Facts out{ref.peeled};
    if (ref.peeled_known) {
      if (git_odb_exists(odb_.get(), &id) != 1) return nullptr;
    } else {
      if (git_odb_read_header(&size, &type, odb_.get(), &id) != 0) return nullptr;
      if (type == GIT_OBJECT_TAG && !peel(id, out.peeled)) give_up();
    }
    return &known_.emplace(ref.target.oid, std::move(out)).first->second;
  }

  bool peel(git_oid id, Oid& out) {
    for (;;) {
      git_odb_object* raw = nullptr;
      if (git_odb_read(&raw, odb_.get(), &id) != 0) return false;
      const OdbObjectHandle object(raw);
      if (git_odb_object_type(raw) != GIT_OBJECT_TAG) {
        out = to_oid(id);
        return true;
      }
      const std::string_view text(static_cast<const char*>(git_odb_object_data(raw)), git_odb_object_size(raw));
      if (!text.starts_with("object ") || text.size() < 47 || !from_oid(text.substr(7, 40), id)) return false;
    }
  }

  std::optional<ShownRef> shown(const std::string& name, const FoundRef& ref) {
    std::string last_name;
    const FoundRef* end = follow(ref, last_name);
    const Facts* known = end == nullptr ? nullptr : facts(*end);
    if (known == nullptr) return std::nullopt;
    return ShownRef{name, end->target.oid, known->peeled, last_name};
  }

  void show(const std::string& name, const FoundRef& ref) {
    if (auto line = shown(name, ref)) {
      out_.list.refs.push_back(std::move(*line));
    } else {
      give_up();  // git has words for it, and its own ways
    }
  }

  void show_head() {
    const auto text = read_file(repository_ + "/HEAD", 4096);
    const auto target = text ? parse_reference(*text) : std::nullopt;
    if (!target) return give_up();
    out_.list.head = shown("HEAD", {*target});
    if (out_.list.head || target->symbolic.empty()) {
      if (!out_.list.head) give_up();
      return;
    }
    std::string last_name;
    follow({*target}, last_name);
    if (found_.contains(last_name)) return give_up();  // born, yet broken
    out_.list.unborn = last_name;
  }

  const std::string& repository_;
  FactsById& known_;
  Scan out_;
  FoundRefs found_;
  OdbHandle odb_;
};

}  // namespace

Mark mark_of(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return {};
  const auto ns = [](const timespec& t) { return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec; };
  return {about.st_dev, about.st_ino, static_cast<std::uint64_t>(about.st_size), ns(about.st_mtim), ns(about.st_ctim)};
}

Expected<Scan> scan_references(const std::string& repository, FactsById& known) {
  // What moves while it is read is read again; a repository that never rests is shown as last seen.
  for (int attempt = 0;; ++attempt) {
    auto scan = Scanner(repository, known).run();
    if (!scan || attempt == 3 || still_so(*scan)) return scan;
  }
}

bool still_so(const Scan& scan) {
  return std::ranges::all_of(scan.marks, [](const auto& each) { return mark_of(each.first) == each.second; });
}

bool too_young(const Scan& scan, std::int64_t now_ns) {
  return std::ranges::any_of(scan.marks, [&](const auto& each) {
    return std::max(each.second.modified, each.second.changed) + mark_ages_ns > now_ns;
  });
}

}  // namespace stackgate::datastore::git
