// The S3 server that a script started for the tests: STACKGATE_TEST_S3=endpoint,access key,secret key,bucket.
#pragma once
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "services/kit/objects/options.hpp"

namespace stackgate::test {

inline std::optional<objects::S3Options> s3_from_environment() {
  const char* text = std::getenv("STACKGATE_TEST_S3");
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::vector<std::string> words(1);
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == ',')
      words.emplace_back();
    else
      words.back() += *c;
  }
  words.resize(4);
  objects::S3Options out;
  out.endpoint = words[0];
  out.access_key = words[1];
  out.secret_key = words[2];
  out.bucket = words[3];
  out.part_size = 5ULL << 20U;
  return out;
}

}  // namespace stackgate::test
