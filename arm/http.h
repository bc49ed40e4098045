// http.h – HTTP messages as plain values (RFC 9110), as the rest of armgate sees them.
//
// Why: everything above proxy/http and proxy/net works on these values, so the codec and the transport can be replaced
// and the pipeline can run under the simulator. Field names and values keep the bytes and the order they arrived in
// (promise P7); lookups ignore case (RFC 9110 §5.1).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::arm {

enum class Method { Get, Head, Put, Patch, Post, Delete, Options, Connect, Other };

// The method of an exact token (methods are case-sensitive, RFC 9110 §9.1).
Method method_of(std::string_view token);
std::string_view to_text(Method method);  // "OTHER" for Other

struct Field {
  std::string name;
  std::string value;
  bool is_checked = false;  // by the parser: a name and a value that may stand in a head as they are
};

// Header fields in order. Small linear storage: real messages have 10 to 30 fields.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

  // The first value of a field, or nothing. An empty value is not nothing.
  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view get(std::string_view name) const { return find(name).value_or(std::string_view{}); }
  bool has(std::string_view name) const { return find(name).has_value(); }
  size_t count(std::string_view name) const;

  void reserve(size_t fields) { fields_.reserve(fields); }
  void add(std::string_view name, std::string_view value);
  void add_checked(std::string_view name, std::string_view value);
  void set(std::string_view name, std::string_view value);  // replaces the first in place, removes the others
  void remove(std::string_view name);

 private:
  std::vector<Field> fields_;
};

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

// The part of a target before '?', and the part after it (empty without one).
std::string_view path_of(std::string_view target);
std::string_view query_of(std::string_view target);

// The raw value of a query parameter, its name compared without case; nothing if absent.
std::optional<std::string_view> query_parameter(std::string_view target, std::string_view name);

}  // namespace armgate::arm
