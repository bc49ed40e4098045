#include "proxy/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/async.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/eight_bytes.h"

namespace armgate {
namespace {

constexpr size_t kQueuedLinesMax = 8192;
constexpr size_t kUsualLineBytes = 1024;
constexpr size_t kGatheredBytesMax = 64 * 1024;
constexpr int kRestMilliseconds = 2;  // what a crash can take away besides what is queued

// Printable ASCII without what JSON escapes. True means so; false, that a byte of it may not be.
bool stands_for_itself(std::string_view text) {
  namespace words = eight_bytes;
  return words::has_none(text, [](uint64_t word) {
    return words::not_printable(word) | words::any_equal(word, '"') | words::any_equal(word, '\\');
  });
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
  }
  return spdlog::level::err;
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

// One line of JSON, ASCII only, written from front to back: a tree of values would cost more than the rest of a request.
class Line {
 public:
  Line(LogLevel level, WallTime wall, std::string_view event) {
    text_.reserve(kUsualLineBytes);
    append("{\"time\":\"");
    append_time(wall);
    append("\"");
    add("level", name_of(level));
    add("event", event);
  }

  void add(std::string_view name, std::string_view value) {
    append_name(name);
    append_text(value);
  }
  void add_number(std::string_view name, int64_t value) {
    append_name(name);
    const fmt::format_int digits(value);
    text_.append(digits.data(), digits.size());
  }
  void add_flag(std::string_view name, bool value) {
    append_name(name);
    append(value ? "true" : "false");
  }
  void add_list(std::string_view name, const std::vector<std::string>& values) {
    append_name(name);
    append("[");
    for (const auto& value : values) {
      if (&value != &values.front()) append(",");
      append_text(value);
    }
    append("]");
  }

  spdlog::string_view_t finish() {
    append("}");
    return {text_.data(), text_.size()};
  }

 private:
  void append(std::string_view text) { text_.append(text); }

  void append_name(std::string_view name) {
    append(",\"");
    append(name);
    append("\":");
  }

  // Bytes that are not UTF-8 come from clients; they are replaced, never a reason to lose the line.
  void append_text(std::string_view text) {
    if (!stands_for_itself(text))
      return append(nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    append("\"");
    append(text);
    append("\"");
  }

  // RFC 3339, UTC, with milliseconds.
  void append_time(WallTime wall) {
    const auto day = std::chrono::floor<std::chrono::days>(wall);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(wall - day);
    append_digits<4>(static_cast<int>(date.year()));
    append("-");
    append_digits<2>(static_cast<unsigned>(date.month()));
    append("-");
    append_digits<2>(static_cast<unsigned>(date.day()));
    append("T");
    append_digits<2>(time.hours().count());
    append(":");
    append_digits<2>(time.minutes().count());
    append(":");
    append_digits<2>(time.seconds().count());
    append(".");
    append_digits<3>(time.subseconds().count());
    append("Z");
  }

  template <size_t kDigits>
  void append_digits(int64_t value) {
    std::array<char, kDigits> digits;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value /= 10)
      *digit = static_cast<char>('0' + value % 10);
    text_.append(digits.data(), digits.size());
  }

  std::string text_;  // not fmt's buffer: that one copies byte by byte
};

}  // namespace

// Adds to the end of a file. Why not spdlog's own: it cannot open its file anew while lines are being written, and it wakes
// its thread and writes once for every line (measured: a fifth of the CPU time of a small GET). Here lines that wait are
// written together, and after that the thread rests a moment, in which more of them gather.
class Log::FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(std::string file) : file_(std::move(file)) {}
  ~FileSink() override {
    write_gathered();
    if (fd_ >= 0) ::close(fd_);
  }

  // Whose lines come here; before the first one.
  void set_queue(spdlog::details::thread_pool* queue) { queue_ = queue; }

  Result<void> open() {
    const int fd = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0) {
      return gateway_error(ErrorKind::BadInput,
                           fmt::format("the log file {} cannot be opened: {}", file_, std::strerror(errno)));
    }
    const std::lock_guard lock(mutex_);
    write_gathered();
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    return {};
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    gathered_.append(line.data(), line.size());
    const bool more_to_come = queue_ != nullptr && queue_->queue_size() > 0;
    if (more_to_come && gathered_.size() < kGatheredBytesMax) return;
    if (!write_gathered()) throw spdlog::spdlog_ex("the log file cannot be written", errno);
    if (!more_to_come) ::poll(nullptr, 0, kRestMilliseconds);
  }

  // What cannot be written is given up.
  bool write_gathered() {
    size_t done = 0;
    while (done < gathered_.size()) {
      const ssize_t written = ::write(fd_, gathered_.data() + done, gathered_.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) break;
      done += static_cast<size_t>(written);
    }
    const bool all = done == gathered_.size();
    gathered_.clear();
    return all;
  }
  void flush_() override {}

  const std::string file_;
  spdlog::details::thread_pool* queue_ = nullptr;  // outlives the last line
  std::string gathered_;                           // guarded by mutex_, like the next one
  int fd_ = -1;
};

Log::Log(std::shared_ptr<spdlog::logger> logger, LogLevel least, std::shared_ptr<void> writer, std::shared_ptr<FileSink> file)
    : writer_(std::move(writer)), logger_(std::move(logger)), file_(std::move(file)) {
  logger_->set_pattern("%v");
  logger_->set_level(spdlog_level(least));
}

Result<std::unique_ptr<Log>> Log::open(const std::string& file, LogLevel least) {
  spdlog::sink_ptr sink;
  std::shared_ptr<FileSink> file_sink;
  if (file.empty()) {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  } else {
    file_sink = std::make_shared<FileSink>(file);
    if (auto opened = file_sink->open(); !opened) return std::move(opened).error();
    sink = file_sink;
  }
  // Written by a thread of its own: a full pipe or a slow disk must not stop an event loop. Beyond the queue the oldest
  // lines are given up.
  auto writer = std::make_shared<spdlog::details::thread_pool>(kQueuedLinesMax, 1);
  if (file_sink) file_sink->set_queue(writer.get());
  auto logger =
      std::make_shared<spdlog::async_logger>("armgate", std::move(sink), writer, spdlog::async_overflow_policy::overrun_oldest);
  return std::unique_ptr<Log>(new Log(std::move(logger), least, std::move(writer), std::move(file_sink)));
}

Result<void> Log::reopen() { return file_ == nullptr ? Result<void>() : file_->open(); }

std::unique_ptr<Log> Log::to_stream(std::ostream& stream, LogLevel least) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(stream);
  return std::unique_ptr<Log>(new Log(std::make_shared<spdlog::logger>("armgate", std::move(sink)), least));
}

void Log::request(const Exchange& exchange, WallTime wall, TimePoint now) {
  const Report& report = exchange.report;
  // Trouble with ARM is seen with a log of trouble only, too.
  const LogLevel level = report.upstream_error.empty() ? LogLevel::Info : LogLevel::Warning;
  if (!logger_->should_log(spdlog_level(level))) return;
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
  if (!report.reason.empty()) line.add("reason", report.reason);
  if (!report.upstream_code.empty()) line.add("upstream_code", report.upstream_code);
  if (!report.upstream_message.empty()) line.add("upstream_message", report.upstream_message);
  if (!report.upstream_error.empty()) line.add("upstream_error", report.upstream_error);
  line.add_flag("delivered", exchange.delivered);
  logger_->log(spdlog_level(level), line.finish());
}

void Log::event(LogLevel level, WallTime wall, std::string_view name, Fields fields) {
  if (!logger_->should_log(spdlog_level(level))) return;
  Line line(level, wall, name);
  for (const auto& [field, value] : fields) {
    if (const auto* text = std::get_if<std::string_view>(&value.value_)) line.add(field, *text);
    if (const auto* number = std::get_if<int64_t>(&value.value_)) line.add_number(field, *number);
  }
  logger_->log(spdlog_level(level), line.finish());
}

}  // namespace armgate
