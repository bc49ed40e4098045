#include "arm/early_end.h"

#include <gtest/gtest.h>

namespace armgate::arm {
namespace {

TEST(EarlyEnd, OnlyWhatEndsAnOperationPassesWhatWaitsForIt) {
  for (const char* action : {"abort", "cancel", "abortlatestoperation", "cancelrollingupgrade"})
    EXPECT_TRUE(ends_an_operation(action)) << action;
  for (const char* action : {"", "restart", "start", "listcancelled", "unabort", "can", "abor"})
    EXPECT_FALSE(ends_an_operation(action)) << action;
}

}  // namespace
}  // namespace armgate::arm
