#include "services/kit/sql/service_error.hpp"

#include <gtest/gtest.h>

namespace stackgate::sql {
namespace {

TEST(DatabaseErrors, are_one_fault_for_every_service) {
  const auto fault = [](Fault of) { return to_service_error({of, "a cause with details", {}}).fault; };
  EXPECT_EQ(fault(Fault::away), ServiceFault::unavailable);
  EXPECT_EQ(fault(Fault::busy), ServiceFault::unavailable);
  EXPECT_EQ(fault(Fault::conflict), ServiceFault::unavailable);
  EXPECT_EQ(fault(Fault::full), ServiceFault::full);
  EXPECT_EQ(fault(Fault::unfit), ServiceFault::invalid);
  EXPECT_EQ(fault(Fault::broken), ServiceFault::broken);
  EXPECT_EQ(fault(Fault::duplicate), ServiceFault::broken);
  EXPECT_EQ(to_service_error({Fault::broken, "a cause with details", {}}).message.find("cause"), std::string::npos);
}

}  // namespace
}  // namespace stackgate::sql
