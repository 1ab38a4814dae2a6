// Manifests for tests of the command line.
#pragma once
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace stackgate::test {

inline constexpr const char* good = R"(apiVersion: stackgate.dev/v1alpha1
kind: StackGuardrail
metadata:
  name: guardrail
spec:
  nimEndpoint:
    baseURL: http://llm:8000/v1
  configStore:
    configMap:
      name: rails
)";

inline std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) ADD_FAILURE() << from;
  return text.replace(at, from.size(), to);
}

}  // namespace stackgate::test
