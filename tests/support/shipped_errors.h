// shipped_errors.h – the shipped error table, and what it makes of an answer.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_tree.h"
#include "proxy/policy/error_class.h"
#include "rules/file/rule_file.h"

namespace armgate::policy {

using rules::ErrorClass;
using rules::ErrorTable;
using rules::OwnPrecondition;

inline const ErrorTable& shipped() {
  static const ErrorTable table = [] {
    std::ifstream file(source_path("conf/rules/errors.json"));
    rules::FaultList faults;
    auto book = rules::read_rule_book("errors.json", std::string(std::istreambuf_iterator<char>(file), {}), faults);
    for (const auto& fault : faults) ADD_FAILURE() << to_text(fault);
    return ErrorTable(std::move(book.errors));
  }();
  return table;
}

inline std::string error(std::string_view code, std::string_view message = "m", std::string_view detail = "",
                         std::string_view detail_message = "d") {
  std::string text = R"({"error":{"code":")" + std::string(code) + R"(","message":")" + std::string(message) + "\"";
  if (!detail.empty())
    text += R"(,"details":[{"code":")" + std::string(detail) + R"(","message":")" + std::string(detail_message) + "\"}]";
  return text + "}}";
}

inline ErrorFacts classify(int status, std::string_view body, arm::Headers fields = {},
                           OwnPrecondition own = OwnPrecondition::Absent) {
  arm::ResponseHead head;
  head.status = status;
  head.fields = std::move(fields);
  return classify_error(shipped(), head, body, own, WallTime{});
}

struct ShippedError {
  const char* name;
  int status;
  std::string body;
  arm::Headers fields{};
};

inline void expect_all(ErrorClass expected, const std::vector<ShippedError>& rows) {
  for (const auto& row : rows) {
    EXPECT_EQ(static_cast<int>(classify(row.status, row.body, row.fields).kind), static_cast<int>(expected)) << row.name;
  }
}

}  // namespace armgate::policy
