// log.h – one JSON object per line: one for every request, and one for every event an operator should know.
//
// Why: "why was my write refused?" is answered from here (promise P11, docs/design.md), so a line names what was done and ARM's
// own error; but no query string, no header value and no body is ever written (promise P8), of an answer only what ARM said
// about a conflict.
// Threads   any.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "proxy/observability/line_writer.h"

namespace armgate {

struct Exchange;

enum class LogLevel { Debug, Info, Warning, Error };

class Log {
 public:
  // Of a member: a text, a whole number, or none, which leaves the member out.
  class Value {
   public:
    Value() = default;
    template <std::convertible_to<std::string_view> Text>
    Value(const Text& text) : value_(std::string_view(text)) {}  // NOLINT: implicit by design
    template <std::integral Number>
    Value(Number number) : value_(static_cast<int64_t>(number)) {}  // NOLINT: implicit by design
    static Value unless_empty(std::string_view text) { return text.empty() ? Value() : Value(text); }

   private:
    friend class Log;
    std::variant<std::monostate, std::string_view, int64_t> value_;
  };
  using Fields = std::initializer_list<std::pair<std::string_view, Value>>;

  // Writes to the end of `file`, which is made if need be; empty: to standard error.
  static Result<std::unique_ptr<Log>> open(const std::string& file, LogLevel least);
  // Writes from now on to what stands under the file's name: after logrotate moved the old file away. That is done when the old
  // file has taken what came before; nobody waits for it. The next line says so ("log-reopened"), or, with standard error, that
  // it cannot be: then the old one stays in use ("log-not-reopened"). Without a file nothing happens but that line.
  void reopen();
  // Writes to a stream, which must outlive the log.
  static std::unique_ptr<Log> to_stream(std::ostream& stream, LogLevel least);

  // The line of a finished exchange, at level Info.
  void request(const Exchange& exchange, WallTime wall, TimePoint now);

  // "started", "stopping", "lease expired", ... and what there is to know about it.
  void event(LogLevel level, WallTime wall, std::string_view name, Fields fields = {});

 private:
  class Line;
  // Takes a line without its end.
  using Sink = std::function<void(std::string_view line)>;
  LineWriter::Reopened open_again() const;  // on the writer's thread
  Log(LogLevel least, Sink sink, std::string file = {}, std::unique_ptr<LineWriter> writer = nullptr);

  const LogLevel least_;
  const Sink sink_;
  const std::string file_;                    // empty: none
  const std::unique_ptr<LineWriter> writer_;  // null: the sink needs none
};

}  // namespace armgate
