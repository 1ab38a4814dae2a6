// What an entitystore answers about its adapters; see services/entitystore/README.md. The answers come from outside:
// what is returned keeps record.hpp's rules. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/adapters/catalogue/record.hpp"

namespace stackgate::inference {

inline constexpr std::size_t most_adapters = 100'000;

struct AdapterList {
  std::vector<AdapterRecord> records;
  /// Of records that could not be read, the first one's; empty: the list is whole. What is missing in a list with a
  /// fault may still be there.
  std::string fault;
};

/// GET /v1/adapters?status=ready. Records of another status are left out. The error is a sentence.
std::expected<AdapterList, std::string> read_adapter_list(std::string_view body, std::string_view source);

struct AdapterDownload {
  std::string url;                       // absolute, or from the answer's own place
  std::string sha256{};                  // of the archive, 64 hex digits; empty: not said
  std::optional<std::uint64_t> bytes{};  // of the archive
};

/// GET /v1/adapters/{id}. The error is a sentence: another adapter's answer, one that cannot be downloaded.
std::expected<AdapterDownload, std::string> read_adapter_detail(std::string_view body, std::string_view id);

}  // namespace stackgate::inference
