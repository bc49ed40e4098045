#include "rules/setting_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "rules/units.h"

namespace armgate::rules {
namespace {

using nlohmann::json;

struct ValuePrinter {
  json operator()(const WholeNumber& setting) const {
    return std::visit([](const auto* to) { return json(*to); }, setting.to);
  }
  json operator()(const WholeNumberList& setting) const { return *setting.to; }
  json operator()(const Number& setting) const { return *setting.to; }
  json operator()(const ByteSize& setting) const { return bytes_to_text(*setting.to); }
  json operator()(const TimeSpan& setting) const { return to_text(*setting.to); }
  json operator()(const Text& setting) const { return *setting.to; }
  json operator()(const TextList& setting) const { return *setting.to; }
  json operator()(const Choice& setting) const { return setting.names[setting.get()]; }
  json operator()(const ChoiceList&) const { return json::array(); }
  json operator()(const JsonText& setting) const { return *setting.to; }
  json operator()(const Entries&) const { return json::object(); }
  json operator()(const Items&) const { return json::array(); }
};

struct BoundsPrinter {
  std::string operator()(const WholeNumber& s) const { return fmt::format("{} to {}", s.least, s.most); }
  std::string operator()(const WholeNumberList& s) const { return fmt::format("{} to {}", s.least, s.most); }
  std::string operator()(const Number& s) const { return fmt::format("{} to {}", s.least, s.most); }
  std::string operator()(const ByteSize& s) const {
    return fmt::format("\"{}\" to \"{}\"", bytes_to_text(s.least), bytes_to_text(s.most));
  }
  std::string operator()(const TimeSpan& s) const {
    return fmt::format("\"{}\" to \"{}\"", to_text(s.least), to_text(s.most));
  }
  std::string operator()(const Choice& s) const { return fmt::format("\"{}\"", fmt::join(s.names, "\" or \"")); }
  std::string operator()(const ChoiceList& s) const { return fmt::format("\"{}\"", fmt::join(s.names, "\", \"")); }
  template <class NoBounds>
  std::string operator()(const NoBounds&) const {
    return {};
  }
};

}  // namespace

std::string value_to_json(const SettingValue& value) { return std::visit(ValuePrinter{}, value).dump(); }

std::string bounds_to_text(const SettingValue& value) { return std::visit(BoundsPrinter{}, value); }

}  // namespace armgate::rules
