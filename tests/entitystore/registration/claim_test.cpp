#include <gtest/gtest.h>

#include "services/entitystore/registration/registrar.hpp"

namespace stackgate::entitystore {
namespace {

TEST(Claims, ARepositorysDescriptionNamesTheDatabaseThatItsRecordsLieIn) {
  const std::string id = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(marked_database(mark_of(id)), id);
  EXPECT_EQ(marked_database("kept by me. " + mark_of(id)), id);
  for (const std::string& text :
       {std::string(), std::string("adapters"), mark_of("0123"), mark_of(std::string(32, 'x'))})
    EXPECT_EQ(marked_database(text), "") << text;
}

}  // namespace
}  // namespace stackgate::entitystore
