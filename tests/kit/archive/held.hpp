// Both ends of reading an archive in a test: a Sink that keeps the files, and a Source that gives a text.
#pragma once
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "services/kit/archive/tar_gz.hpp"

namespace stackgate::archive {

struct Held : Sink {
  std::map<std::string, std::string> files;
  std::string at;
  std::string fail_on;
  std::expected<void, std::string> begin(const Entry& entry) override {
    at = entry.name;
    files[at];
    return {};
  }
  std::expected<void, std::string> data(std::string_view bytes) override {
    if (at == fail_on) return std::unexpected("the disk is full");
    files[at] += bytes;
    return {};
  }
  std::expected<void, std::string> end() override { return {}; }
};

/// `piece` bytes at a time, as a network gives them.
inline Source source_of(std::string text, std::size_t piece) {
  return [text = std::move(text), piece, at = std::size_t{0}](std::span<char> space) mutable {
    const std::size_t n = std::min({piece, space.size(), text.size() - at});
    std::copy_n(text.data() + at, n, space.data());
    at += n;
    return std::expected<std::size_t, ReadError>(n);
  };
}

}  // namespace stackgate::archive
