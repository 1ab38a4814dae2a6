#include "services/stackgate/validate/inputs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <istream>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "services/kit/base/freed.hpp"

namespace stackgate {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{64} << 20U;
constexpr const char* too_large = "cannot be read: larger than 64 MiB";

bool is_manifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

std::string why_unopened(const std::string& name, int error) {
  std::string why = fmt::format("cannot be read: {}", std::strerror(error));
  if (error == ENOENT && name.find_first_of("*?[") != std::string::npos)
    why += "; patterns are for the shell: write this one without quotes, or name the directory";
  return why;
}

Input read_file(std::string name) {
  Input input{std::move(name), {}, {}};
  const std::unique_ptr<std::FILE, Freed<std::fclose>> file(std::fopen(input.name.c_str(), "rbe"));
  if (!file) {
    input.problem = why_unopened(input.name, errno);
    return input;
  }
  // By its size where it has one; what is written to a pipe or still grows comes in further pieces.
  std::error_code ignored;
  const auto expected = fs::file_size(input.name, ignored);
  std::size_t room = ignored || expected > most_bytes ? 65536 : static_cast<std::size_t>(expected) + 1;
  while (true) {
    const std::size_t had = input.text.size();
    input.text.resize(had + room);
    const std::size_t got = std::fread(input.text.data() + had, 1, room, file.get());
    input.text.resize(had + got);
    if (got < room || input.text.size() > most_bytes) break;
    room = std::max<std::size_t>(65536, input.text.size());
  }
  if (std::ferror(file.get()) != 0) input.problem = fmt::format("cannot be read: {}", std::strerror(errno));
  if (input.text.size() > most_bytes) input.problem = too_large;
  if (!input.problem.empty()) input.text.clear();
  return input;
}

/// What stands below one directory. One that cannot be entered is a problem, and the others are read all the same.
class Walk {
 public:
  explicit Walk(std::vector<Input>& problems) : problems_(problems) {}

  std::vector<std::string> files_below(const std::string& directory) {
    const std::size_t before = problems_.size();
    enter(directory, 0);
    if (files_.empty() && problems_.size() == before)
      problems_.push_back({directory, {}, "there is nothing to check: it holds no .yaml, .yml or .json file"});
    std::ranges::sort(files_);
    return std::exchange(files_, {});
  }

 private:
  void enter(const std::string& directory, unsigned depth) {
    if (depth > deepest) {
      const std::string why = fmt::format("cannot be read: it lies below more than {} other directories", deepest);
      problems_.push_back({directory, {}, why});
      return;
    }
    std::error_code error;
    fs::directory_iterator at(directory, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) visit(*at, depth);
    if (error) problems_.push_back({directory, {}, "cannot be read: " + error.message()});
  }

  void visit(const fs::directory_entry& entry, unsigned depth) {
    const fs::path& path = entry.path();
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      const bool hidden = path.filename().string().starts_with('.');
      if (!hidden && !entry.is_symlink(ignored)) enter(path.string(), depth + 1);
    } else if (is_manifest(path) && (entry.is_regular_file(ignored) || !entry.exists(ignored))) {
      files_.push_back(path.string());  // a pipe would be waited for; a link to nowhere is a fault
    }
  }

  static constexpr unsigned deepest = 100;  // directories within one another
  std::vector<Input>& problems_;
  std::vector<std::string> files_;
};

Input read_standard_input(std::istream& in) {
  Input input{"<stdin>", {}, {}};
  constexpr std::size_t piece = std::size_t{1} << 16U;
  errno = 0;
  while (in && input.text.size() <= most_bytes) {
    const std::size_t had = input.text.size();
    input.text.resize(had + piece);
    in.read(input.text.data() + had, static_cast<std::streamsize>(piece));
    input.text.resize(had + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) input.problem = fmt::format("cannot be read: {}", std::strerror(errno == 0 ? EIO : errno));
  if (input.text.size() > most_bytes) input.problem = too_large;
  if (!input.problem.empty()) input.text.clear();
  return input;
}

/// One file has one identity, whatever its path.
std::optional<std::pair<dev_t, ino_t>> identity_of(const std::string& path) {
  struct stat known{};
  if (::stat(path.c_str(), &known) != 0 || !S_ISREG(known.st_mode)) return std::nullopt;
  return std::pair(known.st_dev, known.st_ino);
}

}  // namespace

std::vector<Input> read_inputs(const std::vector<std::string>& paths, std::istream& in) {
  std::vector<Input> inputs;
  std::set<std::string> seen_names;
  std::set<std::pair<dev_t, ino_t>> seen_files;
  const auto add_file = [&](std::string name) {
    const auto identity = identity_of(name);
    if (identity ? seen_files.insert(*identity).second
                 : seen_names.insert(fs::path(name).lexically_normal().string()).second)
      inputs.push_back(read_file(std::move(name)));
  };
  Walk walk(inputs);
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (path == "-") {
      if (seen_names.insert(path).second) inputs.push_back(read_standard_input(in));
    } else if (fs::is_directory(path, ignored)) {
      for (std::string& file : walk.files_below(path)) add_file(std::move(file));
    } else {
      add_file(path);
    }
  }
  return inputs;
}

}  // namespace stackgate
