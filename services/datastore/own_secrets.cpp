#include "services/datastore/own_secrets.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::datastore {
namespace {

namespace fs = std::filesystem;

Error secret_error(const std::string& path, int number) {
  return {fmt::format("{}: {}", path, std::generic_category().message(number))};
}

/// Written beside and linked into place: whoever sees the file sees all of it, and the first one wins.
std::expected<bool, Error> make_secret_file(const std::string& path, const std::string& text) {
  const std::string beside = fmt::format("{}.{}", path, crypto::random_hex(6));
  files::File file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return std::unexpected(secret_error(beside, errno));
  int number = files::write_all(file.fd(), text);
  if (number == 0 && ::fsync(file.fd()) != 0) number = errno;
  file.close();
  bool made = false;
  if (number == 0) {
    made = ::link(beside.c_str(), path.c_str()) == 0;
    if (!made && errno != EEXIST) number = errno;
  }
  ::unlink(beside.c_str());
  if (number != 0) return std::unexpected(secret_error(path, number));
  return made;
}

struct SecretText {
  std::string text;
  bool fresh = false;
};

std::expected<SecretText, Error> read_or_make(const std::string& path, std::size_t bytes) {
  bool fresh = false;
  if (::access(path.c_str(), F_OK) != 0) {
    fresh = TRY(make_secret_file(path, crypto::random_hex(bytes) + "\n"));
  }
  std::string text = files::read_file(path, std::size_t{64} * 1024).value_or("");
  while (text.ends_with('\n')) text.pop_back();
  if (text.size() < 16)
    return std::unexpected(Error{path + ": cannot be read or is too short; delete it to have another one made"});
  return SecretText{std::move(text), fresh};
}

}  // namespace

std::expected<void, Error> complete_secrets(Options& options, Secrets secrets) {
  if (!options.admin_name.empty() && !options.jwt_key.empty()) return {};
  const std::string folder = options.data_dir + "/secrets";
  const auto is_there = [&](const std::string& path) {
    return secrets == Secrets::made || ::access(path.c_str(), F_OK) == 0;
  };
  if (secrets == Secrets::made) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return std::unexpected(Error{fmt::format("{}: {}", folder, error.message())});
    ::chmod(folder.c_str(), 0700);  // best effort: a shared volume may not know modes; the files say it too
  }
  if (const std::string path = folder + "/admin-password"; options.admin_name.empty() && is_there(path)) {
    auto secret = TRY(read_or_make(path, 16));
    options.admin_name = "admin";
    options.admin_password = secret.text;
    if (secret.fresh)
      std::fputs(
          fmt::format("no administrator is configured: \"admin\" was made, the password is in {}\n", path).c_str(),
          stderr);
  }
  if (const std::string path = folder + "/jwt-key"; options.jwt_key.empty() && is_there(path)) {
    auto secret = TRY(read_or_make(path, 32));
    options.jwt_key = secret.text;
  }
  return {};
}

}  // namespace stackgate::datastore
