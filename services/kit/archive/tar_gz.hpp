// A tar.gz read as a stream, entry by entry, under limits. Nothing is written anywhere but to the Sink, and nothing is
// held but one block. libarchive stays behind tar_gz.cpp.
//
// Refused, each with a finding, and reading goes on for the faults behind it: absolute paths, "..", links, devices,
// sparse files, duplicates, a file that is also a folder, too many entries, too many bytes. A broken stream ends it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/archive/gunzip.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::archive {

struct Entry {
  std::string name;  // clean: see entry_name.hpp
  std::uint64_t size = 0;
};

/// Where the files go. An error in words ends the reading: a full disk, a client that is gone.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual std::expected<void, std::string> begin(const Entry& entry) = 0;
  virtual std::expected<void, std::string> data(std::string_view bytes) = 0;
  virtual std::expected<void, std::string> end() = 0;
};

struct TarLimits {
  std::size_t entries = 1'000;
  std::size_t findings = 50;
  GunzipLimits gunzip{};
};

struct Outcome {
  std::vector<Entry> files;           // that the sink got, in the archive's order
  std::vector<std::string> litter;    // left out
  validate::Findings findings;        // paths: "adapter", "adapter[<name>]"
  std::optional<std::string> failed;  // reading or writing could not go on, through no fault of the archive
  std::uint64_t packed = 0, unpacked = 0;
};

Outcome read_tar_gz(Source source, Sink& sink, const TarLimits& limits = {});

}  // namespace stackgate::archive
