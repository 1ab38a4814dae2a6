// Any bytes as an uploaded archive, packed and not: nothing but clean names reaches the sink, and never more bytes than
// the limits allow.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/kit/archive/entry_name.hpp"
#include "services/kit/archive/tar_gz.hpp"
#include "services/kit/peft/layout.hpp"
#include "tests/kit/archive/pack.hpp"

using namespace stackgate::archive;

namespace {

struct Counting : Sink {
  std::uint64_t bytes = 0;
  std::expected<void, std::string> begin(const Entry& entry) override {
    if (clean_name(entry.name) != entry.name || is_litter(entry.name)) std::abort();
    return {};
  }
  std::expected<void, std::string> data(std::string_view more) override {
    bytes += more.size();
    return {};
  }
  std::expected<void, std::string> end() override { return {}; }
};

void read(std::string_view text) {
  TarLimits limits{.entries = 50};
  limits.gunzip = {.bytes = 4U << 20U, .ratio = 200, .free = 1U << 20U};
  Counting sink;
  const Outcome outcome = read_tar_gz(
      [text](std::span<char> space) mutable -> std::expected<std::size_t, ReadError> {
        const std::size_t n = std::min(space.size(), text.size());
        std::copy_n(text.data(), n, space.data());
        text.remove_prefix(n);
        return n;
      },
      sink, limits);
  if (sink.bytes > limits.gunzip.bytes || outcome.failed) std::abort();
  (void)stackgate::peft::read_layout(outcome.files);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text);
  read(stackgate::pack::gzip(text, 0));  // the fuzzer's bytes are the tar's bytes
  return 0;
}
