#include "rules/file/setting_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/tree.h"
#include "rules/file/units.h"

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
  json operator()(const Choice& setting) const {
    const auto index = setting.get();
    return index ? json(setting.names[*index]) : json();
  }
  json operator()(const ChoiceList& setting) const {
    json names = json::array();
    for (size_t index : setting.get()) names.push_back(setting.names[index]);
    return names;
  }
  json operator()(const JsonText& setting) const { return *setting.to; }
  json operator()(const Entries&) const { return json::object(); }
  json operator()(const Items&) const { return json::array(); }
  json operator()(const Removed&) const { return json(); }
  json operator()(const Renamed&) const { return json(); }
};

struct BoundsPrinter {
  std::string operator()(const WholeNumber& s) const { return fmt::format("{} to {}", s.least, s.most); }
  std::string operator()(const WholeNumberList& s) const { return fmt::format("{} to {}", s.least, s.most); }
  std::string operator()(const Number& s) const { return fmt::format("{} to {}", s.least, s.most); }
  std::string operator()(const ByteSize& s) const {
    return fmt::format("\"{}\" to \"{}\"", bytes_to_text(s.least), bytes_to_text(s.most));
  }
  std::string operator()(const TimeSpan& s) const { return fmt::format("\"{}\" to \"{}\"", to_text(s.least), to_text(s.most)); }
  std::string operator()(const Choice& s) const { return fmt::format("\"{}\"", fmt::join(s.names, "\" or \"")); }
  std::string operator()(const ChoiceList& s) const { return fmt::format("\"{}\"", fmt::join(s.names, "\", \"")); }
  template <class NoBounds>
  std::string operator()(const NoBounds&) const {
    return {};
  }
};

struct KindPrinter {
  std::string operator()(const WholeNumber& s) const { return "a whole number from " + bounds_to_text(s); }
  std::string operator()(const WholeNumberList& s) const { return "an array of whole numbers from " + bounds_to_text(s); }
  std::string operator()(const Number& s) const { return "a number from " + bounds_to_text(s); }
  std::string operator()(const ByteSize& s) const { return "a size in B, KiB, MiB or GiB from " + bounds_to_text(s); }
  std::string operator()(const TimeSpan& s) const { return "a duration in ms, s, m or h from " + bounds_to_text(s); }
  std::string operator()(const Text&) const { return "a text"; }
  std::string operator()(const TextList&) const { return "an array of texts"; }
  std::string operator()(const Choice& s) const { return bounds_to_text(s); }
  std::string operator()(const ChoiceList& s) const { return "an array of some of " + bounds_to_text(s); }
  std::string operator()(const JsonText&) const { return "any JSON"; }
  std::string operator()(const Entries&) const { return "an object with an object for each name"; }
  std::string operator()(const Items&) const { return "an array of objects"; }
  std::string operator()(const Removed&) const { return "a key that is no more"; }
  std::string operator()(const Renamed&) const { return "a key of another name"; }
};

// Whether the place holds what a file could say: texts that nobody has set yet are often none.
struct HoldsValue {
  bool operator()(const Text& setting) const {
    std::string text = *setting.to;
    return !setting.check || !setting.check(text);
  }
  bool operator()(const TextList& setting) const { return setting.to->size() >= setting.least; }
  bool operator()(const WholeNumberList& setting) const { return !setting.to->empty(); }
  bool operator()(const Choice& setting) const { return setting.get().has_value(); }
  bool operator()(const JsonText& setting) const { return !setting.to->empty(); }
  bool operator()(const Removed&) const { return false; }
  bool operator()(const Renamed&) const { return false; }
  template <class Other>
  bool operator()(const Other&) const {
    return true;
  }
};

}  // namespace

std::string value_to_json(const SettingValue& value) { return std::visit(ValuePrinter{}, value).dump(); }

std::string bounds_to_text(const SettingValue& value) { return std::visit(BoundsPrinter{}, value); }

std::string kind_to_text(const SettingValue& value) { return std::visit(KindPrinter{}, value); }

std::optional<std::string> default_to_json(const Setting& setting) {
  if (setting.need == Need::Required || !std::visit(HoldsValue{}, setting.value)) return std::nullopt;
  return value_to_json(setting.value);
}

std::string facts_of(const Setting& setting) {
  const auto value = default_to_json(setting);
  std::string kind = kind_to_text(setting.value);
  if (kind.front() == 'a') kind.front() = 'A';
  return kind + (setting.need == Need::Required ? ". Required." : value ? ". Default: " + *value + "." : ". No default.");
}

}  // namespace armgate::rules
