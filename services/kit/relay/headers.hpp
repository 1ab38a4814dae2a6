// Which headers go on and which concern one connection only. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::relay {

/// Connection and what it names, and those of RFC 9110, 7.6.1, with framing, Host and Expect, which each connection
/// writes anew. `connection`: the values of the message's Connection headers.
class HopByHop {
 public:
  void add_connection(std::string_view value);
  bool has(std::string_view name) const;

 private:
  std::vector<std::string> named_;
};

}  // namespace stackgate::relay
