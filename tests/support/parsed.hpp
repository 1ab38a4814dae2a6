// A JSON text with its tree, for tests.
#pragma once
#include <stdexcept>
#include <string>

#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::test {

class Parsed {
 public:
  explicit Parsed(std::string text) : text_(std::move(text)) {
    const auto parsed = json::parse(text_, document_);
    if (!parsed) throw std::runtime_error(parsed.error().message + " in " + text_);
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
  const json::Value& operator*() const { return document_.root; }
  const json::Value* get() const { return &document_.root; }

 private:
  std::string text_;
  json::Document document_;
};

}  // namespace stackgate::test
