// An S3 endpoint as configured, taken apart. Pure.
#pragma once
#include <expected>
#include <string>
#include <string_view>

namespace stackgate::objects {

struct Endpoint {
  bool ssl = true;
  std::string host{};  // lower case, IPv6 in brackets
  unsigned port = 443;

  /// As a client writes it into Host: the port only if it is not the scheme's own. Signatures cover this.
  std::string authority(std::string_view before_host = {}) const;
  std::string_view scheme() const { return ssl ? "https" : "http"; }
};

/// host, host:port, [IPv6]:port, each also behind http:// or https://, which then decides instead of `ssl`. The error
/// completes "the endpoint …".
std::expected<Endpoint, std::string> parse_endpoint(std::string_view text, bool ssl);

/// S3's rule: 3 to 63 of [a-z0-9.-], beginning and ending with a letter or digit; Ceph's older names may have capitals
/// and underscores, so they pass where the bucket stands in the path.
bool valid_bucket(std::string_view name, bool path_style);

}  // namespace stackgate::objects
