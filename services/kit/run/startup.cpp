#include "services/kit/run/startup.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/kit/log/log.hpp"

namespace stackgate::run {

void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void give_memory_back() {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
#endif
}

void trim_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> small_file(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0 || S_ISDIR(about.st_mode)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(65'537, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.size() > 65'536 ? std::nullopt : std::optional(std::move(text));
}

std::vector<std::string_view> environment() {
  std::vector<std::string_view> all;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) all.emplace_back(*each);
  return all;
}

void configure_log(std::string_view level, std::string_view format) {
  log::configure({log::parse_level(level).value_or(log::Level::info),
                  log::parse_format(format).value_or(log::default_format(2)), 2});
}

void warn_of_misspelt_variable(std::string_view name, std::string_view meant) {
  log::warning("an environment variable is none of this program's settings and is ignored",
               {{"variable", name}, {"did_you_mean", meant}});
}

}  // namespace stackgate::run
