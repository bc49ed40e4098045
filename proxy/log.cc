#include "proxy/log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <spdlog/async.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

#include "arm/resource_id.h"

namespace armgate {
namespace {

using Line = nlohmann::ordered_json;

constexpr size_t kQueuedLinesMax = 8192;

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warning:
      return "warning";
    case LogLevel::Error:
      return "error";
  }
  return "error";
}

// RFC 3339, UTC, with milliseconds.
std::string timestamp(WallTime wall) {
  const auto second = std::chrono::floor<std::chrono::seconds>(wall);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     (wall - second).count());
}

Line line_of(LogLevel level, WallTime wall, std::string_view event) {
  return Line{{"time", timestamp(wall)}, {"level", name_of(level)}, {"event", event}};
}

// Bytes that are not UTF-8 come from clients; they are replaced, never a reason to lose the line.
std::string text_of(const Line& line) { return line.dump(-1, ' ', true, Line::error_handler_t::replace); }

std::string resource_of(const arm::RequestHead& head) {
  const auto target = arm::parse_target(head.target, head.method == arm::Method::Post);
  return target ? target->resource.id : std::string();
}

}  // namespace

// Adds to the end of a file. Why not spdlog's own: it cannot open its file anew while lines are being written.
class Log::FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(std::string file) : file_(std::move(file)) {}
  ~FileSink() override {
    if (fd_ >= 0) ::close(fd_);
  }

  Result<void> open() {
    const int fd = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0) {
      return gateway_error(ErrorKind::BadInput,
                           fmt::format("the log file {} cannot be opened: {}", file_, std::strerror(errno)));
    }
    const std::lock_guard lock(mutex_);
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
    return {};
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    for (size_t done = 0; done < line.size();) {
      const ssize_t written = ::write(fd_, line.data() + done, line.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw spdlog::spdlog_ex("the log file cannot be written", errno);
      done += static_cast<size_t>(written);
    }
  }
  void flush_() override {}  // each line was given to the system

  const std::string file_;
  int fd_ = -1;  // guarded by mutex_
};

Log::Log(std::shared_ptr<spdlog::logger> logger, LogLevel least, std::shared_ptr<void> writer,
         std::shared_ptr<FileSink> file)
    : writer_(std::move(writer)), logger_(std::move(logger)), file_(std::move(file)) {
  logger_->set_pattern("%v");
  logger_->set_level(spdlog_level(least));
  logger_->flush_on(spdlog::level::trace);  // a line that is not on disk when the process dies is no evidence
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
  auto logger = std::make_shared<spdlog::async_logger>("armgate", std::move(sink), writer,
                                                       spdlog::async_overflow_policy::overrun_oldest);
  return std::unique_ptr<Log>(new Log(std::move(logger), least, std::move(writer), std::move(file_sink)));
}

Result<void> Log::reopen() { return file_ == nullptr ? Result<void>() : file_->open(); }

std::unique_ptr<Log> Log::to_stream(std::ostream& stream, LogLevel least) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(stream);
  return std::unique_ptr<Log>(new Log(std::make_shared<spdlog::logger>("armgate", std::move(sink)), least));
}

void Log::request(const Exchange& exchange, WallTime wall, TimePoint now) {
  if (!logger_->should_log(spdlog::level::info)) return;
  const arm::RequestHead& head = exchange.request.head;
  const Report& report = exchange.report;
  Line line = line_of(LogLevel::Info, wall, "request");
  line["client"] = exchange.client_label;
  line["method"] = head.method_token;
  line["host"] = head.host;
  line["path"] = arm::path_of(head.target);
  if (auto resource = resource_of(head); !resource.empty()) line["resource"] = std::move(resource);
  line["status"] = exchange.status;
  line["duration_ms"] = whole_milliseconds(now - exchange.arrived.time);
  line["waited_ms"] = whole_milliseconds(report.waited);
  line["attempts"] = report.attempts;
  if (!report.locks.empty()) line["locks"] = report.locks;
  if (!report.guard.empty()) line["guard"] = report.guard;
  if (!report.reason.empty()) line["reason"] = report.reason;
  if (!report.upstream_code.empty()) line["upstream_code"] = report.upstream_code;
  line["delivered"] = exchange.delivered;
  logger_->info(text_of(line));
}

void Log::event(LogLevel level, WallTime wall, std::string_view name, Fields fields) {
  if (!logger_->should_log(spdlog_level(level))) return;
  Line line = line_of(level, wall, name);
  for (const auto& [field, value] : fields) line[std::string(field)] = value;
  logger_->log(spdlog_level(level), text_of(line));
}

}  // namespace armgate
