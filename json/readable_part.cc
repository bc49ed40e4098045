#include "json/readable_part.h"

#include <cstddef>
#include <utility>

#include "json/tree.h"

namespace armgate {
namespace {

// Is told what the parser meets, up to the fault.
class StringSeeker final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit StringSeeker(const std::vector<std::string>& wanted) : wanted_(wanted) {}

  std::optional<std::string> take() { return times_ == 1 ? std::move(found_) : std::nullopt; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool string(string_t& value) override {
    if (place_ != wanted_) return true;
    ++times_;
    found_ = value;
    return true;
  }
  bool start_object(size_t /*members*/) override { return begin("{"); }
  bool end_object() override { return end(); }
  bool start_array(size_t /*elements*/) override { return begin("["); }
  bool end_array() override { return end(); }
  bool key(string_t& name) override {
    place_.back() = name;
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& /*why*/) override {
    return false;
  }

 private:
  bool begin(const char* what) {
    place_.emplace_back(what);
    return true;
  }
  bool end() {
    place_.pop_back();
    return true;
  }

  const std::vector<std::string>& wanted_;
  std::vector<std::string> place_;  // the names of what is open; of an array its bracket
  std::optional<std::string> found_;
  size_t times_ = 0;
};

}  // namespace

std::optional<std::string> string_before_fault(std::string_view text, const std::vector<std::string>& place) {
  StringSeeker seeker(place);
  const bool is_whole = nlohmann::json::sax_parse(text, &seeker, nlohmann::json::input_format_t::json, true, true);
  static_cast<void>(is_whole);  // that it is not is why it is read here
  return seeker.take();
}

}  // namespace armgate
