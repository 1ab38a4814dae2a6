#include "services/stackgate/validate/inputs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <istream>
#include <iterator>
#include <memory>
#include <set>
#include <system_error>

#include <fmt/format.h>

namespace stackgate {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{64} << 20U;

bool is_manifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Input read_file(std::string name) {
  Input input{std::move(name), {}, {}};
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(input.name.c_str(), "rbe"));
  if (!file) {
    input.problem = std::strerror(errno);
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
  if (std::ferror(file.get()) != 0) input.problem = std::strerror(errno);
  if (input.text.size() > most_bytes) input.problem = "larger than 64 MiB";
  if (!input.problem.empty()) input.text.clear();
  return input;
}

std::vector<std::string> files_below(const std::string& directory, std::vector<Input>& problems) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error);
  while (!error && at != fs::recursive_directory_iterator()) {
    const fs::path& path = at->path();
    std::error_code ignored;
    const bool hidden = path.filename().string().starts_with('.');
    if (hidden && at->is_directory(ignored))
      at.disable_recursion_pending();
    else if (is_manifest(path) && at->is_regular_file(ignored))  // a pipe would be waited for
      files.push_back(path.string());
    at.increment(error);
  }
  if (error)
    problems.push_back({directory, {}, error.message()});
  else if (files.empty())
    problems.push_back({directory, {}, "holds no .yaml, .yml or .json file"});
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<Input> read_inputs(const std::vector<std::string>& paths, std::istream& in) {
  std::vector<Input> inputs;
  std::set<std::string> seen;
  const auto add_file = [&](std::string name) {
    if (seen.insert(name).second) inputs.push_back(read_file(std::move(name)));
  };
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (path == "-") {
      if (!seen.insert(path).second) continue;
      Input input{"<stdin>", std::string(std::istreambuf_iterator<char>(in), {}), {}};
      if (input.text.size() > most_bytes) input = {"<stdin>", {}, "larger than 64 MiB"};
      inputs.push_back(std::move(input));
    } else if (fs::is_directory(path, ignored)) {
      for (std::string& file : files_below(path, inputs)) add_file(std::move(file));
    } else {
      add_file(path);
    }
  }
  return inputs;
}

}  // namespace stackgate
