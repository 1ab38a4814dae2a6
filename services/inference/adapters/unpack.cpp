#include "services/inference/adapters/unpack.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/archive/tar_gz.hpp"
#include "services/kit/base/out_of_space.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/peft/layout.hpp"

namespace stackgate::inference {
namespace {

/// Counts and hashes what comes; more than was announced is refused at once.
class Packed {
 public:
  Packed(archive::Source source, const AdapterDownload& expected, std::uint64_t most)
      : source_(std::move(source)),
        expected_(expected),
        most_(expected.bytes ? std::min(*expected.bytes, most) : most) {}

  std::expected<std::size_t, archive::ReadError> read(std::span<char> space) {
    auto got = source_(space);
    if (!got) return got;
    bytes_ += *got;
    if (bytes_ > most_)
      return std::unexpected(archive::ReadError{.message = fmt::format("the archive has more than {} bytes", most_)});
    hash_.add({space.data(), *got});
    return got;
  }
  /// To its end, where the sum is.
  std::expected<void, FetchFailure> finish() {
    char rest[4096];
    while (true) {
      const auto got = read(rest);
      if (!got) return std::unexpected(FetchFailure{got.error().message, got.error().ours});
      if (*got == 0) break;
    }
    if (expected_.bytes && bytes_ != *expected_.bytes)
      return std::unexpected(
          FetchFailure{fmt::format("the archive has {} bytes instead of {}", bytes_, *expected_.bytes), true});
    if (const std::string sum = crypto::to_hex(hash_.finish()); !expected_.sha256.empty() && sum != expected_.sha256)
      return std::unexpected(
          FetchFailure{fmt::format("the archive's SHA-256 is {} instead of {}", sum, expected_.sha256)});
    return {};
  }

 private:
  archive::Source source_;
  const AdapterDownload& expected_;
  std::uint64_t most_, bytes_ = 0;
  crypto::Sha256Stream hash_;
};

/// Files that may be the adapter's, under names of their own until it is known where the adapter lies in the archive.
class Unpacker final : public archive::Sink {
 public:
  Unpacker(std::string directory, const UnpackLimits& limits) : directory_(std::move(directory)), limits_(limits) {}

  std::expected<void, std::string> begin(const archive::Entry& entry) override {
    const bool config = peft::may_be(entry.name, peft::config_name);
    if (!config && !peft::may_be(entry.name, peft::weights_name)) return {};
    if (config && entry.size > limits_.config) {
      fault = FetchFailure{fmt::format("{} has {} bytes", entry.name, entry.size)};
      return std::unexpected(fault->reason);
    }
    const std::string path = fmt::format("{}/entry-{}", directory_, names_.size());
    names_[entry.name] = path;
    file_ = files::File(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    return file_ ? std::expected<void, std::string>() : stop("create", errno);
  }
  std::expected<void, std::string> data(std::string_view bytes) override {
    if (!file_) return {};
    const int error = files::write_all(file_.fd(), bytes);
    return error == 0 ? std::expected<void, std::string>() : stop("write", error);
  }
  std::expected<void, std::string> end() override {
    if (file_ && ::fsync(file_.fd()) != 0) return stop("sync", errno);
    file_.close();
    return {};
  }

  /// Under their own names; what lies elsewhere in the archive goes.
  std::expected<void, FetchFailure> place(const std::string& folder) {
    for (const auto& [name, path] : names_) {
      const bool wanted =
          name == folder + std::string(peft::config_name) || name == folder + std::string(peft::weights_name);
      const std::string to = directory_ + "/" + name.substr(name.rfind('/') + 1);
      if (wanted ? std::rename(path.c_str(), to.c_str()) != 0 : ::unlink(path.c_str()) != 0)
        return std::unexpected(system_failure("rename " + path, errno));
    }
    return {};
  }

  std::optional<FetchFailure> fault;

 private:
  std::unexpected<std::string> stop(std::string_view what, int error) {
    fault = system_failure(fmt::format("{} files in {}", what, directory_), error);
    return std::unexpected(fault->reason);
  }

  std::string directory_;
  const UnpackLimits& limits_;
  std::map<std::string, std::string> names_;
  files::File file_;
};

}  // namespace

FetchFailure system_failure(std::string_view what, int error) {
  return {fmt::format("cannot {}: {}", what, std::strerror(error)),
          is_out_of_space(error) || error == EIO || error == EMFILE || error == ENFILE};
}

std::expected<void, FetchFailure> unpack_adapter(archive::Source source, const std::string& directory,
                                                 const AdapterDownload& expected, const UnpackLimits& limits) {
  Packed packed(std::move(source), expected, limits.packed);
  Unpacker unpacker(directory, limits);
  const archive::Outcome outcome = archive::read_tar_gz([&](std::span<char> space) { return packed.read(space); },
                                                        unpacker, {.gunzip = {.bytes = limits.packed * 4}});
  if (unpacker.fault) return std::unexpected(*unpacker.fault);
  if (outcome.failed) return std::unexpected(FetchFailure{*outcome.failed, true});
  // First whether these are the bytes that were announced: what else is wrong with others does not count.
  TRY(packed.finish());
  const peft::Layout layout = peft::read_layout(outcome.files);
  for (const validate::Findings& findings : {outcome.findings, layout.findings})
    for (const validate::Finding& each : findings)
      if (each.severity == validate::Severity::error)
        return std::unexpected(FetchFailure{fmt::format("{} {}", each.path, each.problem)});
  return unpacker.place(layout.folder);
}

}  // namespace stackgate::inference
