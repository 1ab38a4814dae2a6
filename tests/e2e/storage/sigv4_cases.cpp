// Signs what it is told, for comparison with another implementation: one JSON object a line in, one signature a line
// out (path and query of a presigned URL, or the value of Authorization). tests/e2e/storage/sigv4-oracle.sh runs it.
#include <cstdio>
#include <iostream>
#include <string>

#include "services/kit/json/parse.hpp"
#include "services/kit/objects/sigv4.hpp"

using namespace stackgate;
using objects::sigv4::Fields;

namespace {

std::string word(const json::Value& line, std::string_view name) {
  const json::Value* value = line.find(name);
  return std::string(value == nullptr ? std::string_view() : value->string());
}

Fields fields(const json::Value& line, std::string_view name) {
  Fields out;
  for (const json::Value& pair : line.find(name)->items())
    out.emplace_back(pair.items()[0].string(), pair.items()[1].string());
  return out;
}

}  // namespace

int main() {
  std::string text;
  while (std::getline(std::cin, text)) {
    json::Document document;
    const auto line = json::parse(text, document);
    if (!line) {
      std::cerr << "no JSON: " << line.error().message << "\n";
      return 2;
    }
    const objects::sigv4::Credentials credentials{.access_key = word(*line, "access_key"),
                                                  .secret_key = word(*line, "secret_key"),
                                                  .session_token = word(*line, "token"),
                                                  .region = word(*line, "region")};
    const objects::sigv4::Time now{std::chrono::seconds(line->find("time")->integer())};
    const std::string method = word(*line, "method"), path = word(*line, "path");
    const objects::sigv4::Request request{
        .method = method, .path = path, .query = fields(*line, "query"), .headers = fields(*line, "headers")};
    const auto key = objects::sigv4::derive_key(credentials, now);
    if (word(*line, "mode") == "presign")
      std::cout << objects::sigv4::presign(credentials, key, request, now,
                                           std::chrono::seconds(line->find("expires")->integer()))
                << "\n";
    else
      std::cout << objects::sigv4::sign_headers(credentials, key, request, word(*line, "payload"), now).back().second
                << "\n";
  }
  return 0;
}
