// JSON of a test as a value, with what it views.
#pragma once
#include <string>

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::reconcile::tests {

struct Parsed {
  explicit Parsed(std::string json) : text(std::move(json)) {
    EXPECT_TRUE(json::parse(text, document).has_value()) << text;
  }
  std::string text;
  json::Document document;
  operator const json::Value&() const { return document.root; }  // NOLINT: a test's convenience
};

}  // namespace stackgate::reconcile::tests
