// http.h – HTTP messages as plain values (RFC 9110), as the rest of armgate sees them.
//
// Why: everything above proxy/http and proxy/net works on these values, so the codec and the transport can be replaced
// and the pipeline can run under the simulator. Field names and values keep the bytes and the order they arrived in
// (promise P7, docs/design.md); lookups ignore case (RFC 9110 §5.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::arm {

enum class Method { Get, Head, Put, Patch, Post, Delete, Options, Connect, Other };

// Of a token. Exact (RFC 9110 §9.1), but for PUT, PATCH, POST and DELETE, which are known in any case.
Method method_of(std::string_view token);
std::string_view to_text(Method method);  // "OTHER" for Other

// Of a Headers, and valid until that is changed.
struct Field {
  std::string_view name;
  std::string_view value;
  bool is_checked = false;     // by the parser: a name and a value that may stand in a head as they are
  std::string_view line = {};  // "Name: value" and CRLF, if a parsed head has it so; else empty
};

// Header fields in order. Small linear storage: real messages have 10 to 30 fields. Names and values stand in one text, because
// a string for each would cost more memory operations than all else that a head goes through.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Field> fields);

  // Gives fields, not references to them.
  class Iterator;

  size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  Iterator begin() const;
  Iterator end() const;

  // The first value of a field, or nothing. An empty value is not nothing.
  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view get(std::string_view name) const { return find(name).value_or(std::string_view{}); }
  bool has(std::string_view name) const { return find(name).has_value(); }
  size_t count(std::string_view name) const;

  // A parser's way: copies a head's field lines at once, of which it then adds parts. `lines` are the same for both.
  void take_lines(std::string_view lines, size_t fields);
  void add_part(std::string_view lines, std::string_view name, std::string_view value);  // checked

  // Neither name nor value may be of this Headers.
  void add(std::string_view name, std::string_view value);
  void set(std::string_view name, std::string_view value);  // replaces the first in place, removes the others
  void remove(std::string_view name);

 private:
  // Where a field stands in the text. What was replaced or removed stays there unused.
  struct FieldSpan {
    uint32_t name = 0;
    uint32_t name_bytes = 0;
    uint32_t value = 0;
    uint32_t value_bytes = 0;
    bool is_checked = false;
    bool is_line = false;  // a colon, a space and the value follow the name, and CRLF the value
  };

  std::string_view name_at(const FieldSpan& place) const { return {text_.data() + place.name, place.name_bytes}; }
  std::string_view value_at(const FieldSpan& place) const { return {text_.data() + place.value, place.value_bytes}; }
  std::string_view line_at(const FieldSpan& place) const;
  bool is_named(const FieldSpan& place, std::string_view name) const;
  uint32_t append(std::string_view text);

  std::string text_;
  std::vector<FieldSpan> places_;
};

class Headers::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Field;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Field;

  Iterator(const Headers& headers, size_t index) : headers_(&headers), index_(index) {}
  Field operator*() const {
    const FieldSpan& place = headers_->places_[index_];
    return {headers_->name_at(place), headers_->value_at(place), place.is_checked, headers_->line_at(place)};
  }
  Iterator& operator++() {
    ++index_;
    return *this;
  }
  Iterator operator++(int) {
    const Iterator before = *this;
    ++index_;
    return before;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

 private:
  const Headers* headers_;
  size_t index_;
};

inline std::string_view Headers::line_at(const FieldSpan& place) const {
  if (!place.is_line) return {};
  return {text_.data() + place.name, place.value + place.value_bytes + 2 - place.name};
}

inline Headers::Iterator Headers::begin() const { return {*this, 0}; }
inline Headers::Iterator Headers::end() const { return {*this, places_.size()}; }

struct RequestHead {
  Method method = Method::Get;
  std::string method_token = "GET";
  std::string target;  // origin-form exactly as received: path and query, never re-encoded (operation URLs are signed)
  std::string host;    // canonical host of the connection: lower case, without port
  Headers fields;      // hop-by-hop fields are gone once the head is past proxy/http
};

struct Request {
  RequestHead head;
  std::string body;  // whole; writes are read whole before anything else happens
};

struct ResponseHead {
  int status = 0;
  std::string reason;
  Headers fields;
};

// A response whose body is in memory.
struct Response {
  ResponseHead head;
  std::string body;
};

// 408, 429 and 5xx: nothing is decided yet, and clients send the same request again by themselves.
inline bool asks_for_another_try(int status) { return status == 408 || status == 429 || status >= 500; }

inline bool is_success(int status) { return status >= 200 && status <= 299; }

// ARM says that it did nothing. 408 is also what comes of a request that it may have taken.
inline bool was_refused(int status) { return status >= 400 && status < 500 && status != 408; }

// The part of a target before '?', and the part after it (empty without one).
std::string_view path_of(std::string_view target);
std::string_view query_of(std::string_view target);

// The raw value of a query parameter, its name compared without case; nothing if absent.
std::optional<std::string_view> query_parameter(std::string_view target, std::string_view name);

}  // namespace armgate::arm
