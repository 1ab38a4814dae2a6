// Where kubectl takes a stream otherwise than YAML, and this folder's readers, do: it cuts the stream before it reads.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::yaml {

struct StreamRemark {
  std::uint32_t offset = 0;
  std::string problem;     // what kubectl does
  std::string_view cure;   // what reads alike everywhere
  bool some_only = false;  // some versions of kubectl; the others read what is read here
};

/// Of a text that yaml::parse reads without a fault, in its order. What kubectl 1.20 and 1.32 do was tried with them;
/// their way is k8s.io/apimachinery/pkg/util/yaml: a stream whose first character is `{` is read as JSON to its end;
/// any other is cut at lines of `---`, and of each part the first document is read.
std::vector<StreamRemark> kubectl_remarks(std::string_view text);

}  // namespace stackgate::yaml
