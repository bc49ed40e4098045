#include "proxy/observability/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/sixteen_bytes.h"
#include "json/tree.h"
#include "proxy/request/exchange.h"
#include "proxy/seams/real_clock.h"

namespace armgate {
namespace {

// Printable ASCII without what JSON escapes.
bool stands_for_itself(std::string_view text) {
  return sixteen_bytes::has_none(
      text, [](sixteen_bytes::Block block) { return sixteen_bytes::not_printable(block) | (block == '"') | (block == '\\'); });
}

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return "debug";
    case LogLevel::Info: return "info";
    case LogLevel::Warning: return "warning";
    case LogLevel::Error: return "error";
  }
  return "error";
}

// The file is made if need be. A pipe that nobody reads is not waited for.
Result<int> open_at_end(const std::string& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0640);
  if (fd >= 0) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
  }
  if (errno == ENXIO)
    return gateway_error(ErrorKind::BadInput, fmt::format("the log file {} is a pipe that nobody reads", file));
  return gateway_error(ErrorKind::BadInput, fmt::format("the log file {} cannot be opened: {}", file, std::strerror(errno)));
}

}  // namespace

// One line of JSON, ASCII only, written from front to back: a tree of values would cost more than the rest of a request. One at
// a time on a thread.
class Log::Line {
 public:
  Line(LogLevel level, WallTime wall, std::string_view event) {
    append("{\"time\":\"");
    append_time(wall);
    append("\"");
    add("level", name_of(level));
    add("event", event);
  }

  // Name is a literal, whose length the compiler knows, or a string_view.
  template <class Name>
  void add(const Name& name, std::string_view value) {
    append_name(name);
    append_text(value);
  }
  template <class Name>
  void add_number(const Name& name, int64_t value) {
    constexpr size_t kDigitsMax = 20;
    append_name(name);
    char* const begin = room(kDigitsMax);
    end_ += static_cast<size_t>(std::to_chars(begin, begin + kDigitsMax, value).ptr - begin);
  }
  template <class Name>
  void add_flag(const Name& name, bool value) {
    append_name(name);
    append(value ? std::string_view("true") : "false");
  }
  template <class Name>
  void add_list(const Name& name, const std::vector<std::string>& values) {
    append_name(name);
    append("[");
    for (const auto& value : values) {
      if (&value != &values.front()) append(",");
      append_text(value);
    }
    append("]");
  }

  std::string_view finish() {
    append("}");
    return std::string_view(area_).substr(0, end_);
  }

 private:
  // Memory of the thread, for as many lines as it writes.
  static std::string& area() {
    static thread_local std::string kept(1024, '\0');
    return kept;
  }

  // Where this many bytes may be written.
  char* room(size_t bytes) {
    if (area_.size() - end_ < bytes) [[unlikely]]
      grow(bytes);
    return area_.data() + end_;
  }
  [[gnu::noinline]] void grow(size_t bytes) { area_.resize(2 * area_.size() + bytes); }
  void append(std::string_view text) {
    std::memcpy(room(text.size()), text.data(), text.size());
    end_ += text.size();
  }
  template <size_t kBytes>
  void append(const char (&literal)[kBytes]) {
    std::memcpy(room(kBytes), literal, kBytes);
    end_ += kBytes - 1;  // the next byte goes where its end is
  }

  template <class Name>
  void append_name(const Name& name) {
    append(",\"");
    append(name);
    append("\":");
  }

  // Bytes that are not UTF-8 come from clients; they are replaced, never a reason to lose the line.
  void append_text(std::string_view text) {
    if (!stands_for_itself(text)) {
      return append(std::string_view(dump_json(nlohmann::json(text))));
    }
    append("\"");
    append(text);
    append("\"");
  }

  // RFC 3339, UTC, with milliseconds.
  void append_time(WallTime wall) {
    const auto day = std::chrono::floor<std::chrono::days>(wall);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(wall - day);
    std::array<char, 24> text{"0000-00-00T00:00:00.000"};
    const auto put = [&text](size_t at, size_t digits, int64_t value) {
      for (; digits > 0; --digits, value /= 10) text[at + digits - 1] = static_cast<char>('0' + value % 10);
    };
    put(0, 4, static_cast<int>(date.year()));
    put(5, 2, static_cast<unsigned>(date.month()));
    put(8, 2, static_cast<unsigned>(date.day()));
    put(11, 2, time.hours().count());
    put(14, 2, time.minutes().count());
    put(17, 2, time.seconds().count());
    put(20, 3, time.subseconds().count());
    text.back() = 'Z';
    append(std::string_view(text.data(), text.size()));
  }

  std::string& area_ = area();
  size_t end_ = 0;
};

Log::Log(LogLevel least, Sink sink, std::string file, std::unique_ptr<LineWriter> writer)
    : least_(least), sink_(std::move(sink)), file_(std::move(file)), writer_(std::move(writer)) {}

Result<std::unique_ptr<Log>> Log::open(const std::string& file, LogLevel least) {
  auto fd = file.empty() ? Result<int>(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) : open_at_end(file);
  if (!fd) return std::move(fd).error();
  auto writer = std::make_unique<LineWriter>(*fd, [](uint64_t lines) {
    Line told(LogLevel::Error, RealClock().wall(), "log-lines-lost");
    told.add_number("lines", static_cast<int64_t>(lines));
    return std::string(told.finish());
  });
  const Sink sink = [to = writer.get()](std::string_view line) { to->write(line); };
  return std::unique_ptr<Log>(new Log(least, sink, file, std::move(writer)));
}

void Log::reopen() {
  if (file_.empty()) return event(LogLevel::Info, RealClock().wall(), "log-reopened");
  writer_->reopen([this] { return open_again(); });
}

LineWriter::Reopened Log::open_again() const {
  const auto fd = open_at_end(file_);
  if (!fd) {
    // The log that is still written to is the one that was moved away.
    std::fprintf(stderr, "armgate: %s; lines still go to the old file\n", fd.error().context.c_str());
    Line told(LogLevel::Error, RealClock().wall(), "log-not-reopened");
    told.add("text", fd.error().context);
    return {-1, std::string(told.finish())};
  }
  if (least_ > LogLevel::Info) return {*fd, {}};
  return {*fd, std::string(Line(LogLevel::Info, RealClock().wall(), "log-reopened").finish())};
}

std::unique_ptr<Log> Log::to_stream(std::ostream& stream, LogLevel least) {
  const Sink sink = [&stream, mutex = std::make_shared<std::mutex>()](std::string_view line) {
    const std::lock_guard lock(*mutex);
    stream << line << '\n';
  };
  return std::unique_ptr<Log>(new Log(least, sink));
}

void Log::request(const Exchange& exchange, WallTime wall, TimePoint now) {
  const Report& report = exchange.report;
  // Trouble with ARM is seen with a log of trouble only, too.
  const LogLevel level = report.upstream_error.empty() ? LogLevel::Info : LogLevel::Warning;
  if (level < least_) return;
  const arm::RequestHead& head = exchange.request.head;
  Line line(level, wall, "request");
  line.add("client", exchange.client_label);
  line.add("method", head.method_token);
  line.add("host", head.host);
  line.add("path", arm::path_of(head.target));
  if (!exchange.resource().empty()) line.add("resource", exchange.resource());
  line.add_number("status", exchange.status);
  line.add_number("duration_ms", whole_milliseconds(now - exchange.arrived.time));
  line.add_number("waited_ms", whole_milliseconds(report.waited));
  line.add_number("attempts", report.attempts);
  if (!report.locks.empty()) line.add_list("locks", report.locks);
  if (!report.guard.empty()) line.add("guard", report.guard);
  if (report.merged.count > 0) line.add_list("merged", report.merged.pointers);
  if (!report.reason.empty()) line.add("reason", report.reason);
  if (!report.upstream_code.empty()) line.add("upstream_code", report.upstream_code);
  if (!report.upstream_message.empty()) line.add("upstream_message", report.upstream_message);
  if (!report.upstream_error.empty()) line.add("upstream_error", report.upstream_error);
  line.add_flag("delivered", exchange.delivered);
  sink_(line.finish());
}

void Log::event(LogLevel level, WallTime wall, std::string_view name, Fields fields) {
  if (level < least_) return;
  Line line(level, wall, name);
  for (const auto& [field, value] : fields) {
    if (const auto* text = std::get_if<std::string_view>(&value.value_)) line.add(field, *text);
    if (const auto* number = std::get_if<int64_t>(&value.value_)) line.add_number(field, *number);
  }
  sink_(line.finish());
}

}  // namespace armgate
