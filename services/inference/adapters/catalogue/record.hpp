// A version of an adapter as a source lists it.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stackgate::inference {

struct AdapterRecord {
  std::string id;         // is_adapter_id(): of this version alone; names its directory
  std::string name;       // what requests call it
  std::string version{};  // semantic, or empty where a source has none
  std::string base_model{};
  std::string created_at{};  // RFC 3339
  std::string source{};      // where it comes from, for people
  bool operator==(const AdapterRecord&) const = default;
};

/// 1 to 128 letters, digits, '-', '_' and '.', the first one a letter or a digit: safe as a directory's name.
bool is_adapter_id(std::string_view id);

/// 1 to 200 bytes of UTF-8 without control characters, blanks and '@', which separates a name from its version.
bool is_adapter_name(std::string_view name);

/// What tells a file of a folder from one that has taken its place.
struct FileIdentity {
  std::int64_t changed = 0;  // nanoseconds
  std::uint64_t size = 0, inode = 0;
};

/// The id of a folder that holds an adapter: another one when one of its files is.
std::string folder_id(std::string_view name, std::span<const FileIdentity> files);

}  // namespace stackgate::inference
