#include "proxy/observability/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

namespace armgate {
namespace {

constexpr size_t kWaitingBytesMax = 4u << 20;
constexpr size_t kKeptBytesMax = 1u << 20;            // memory that stays for the next lines
constexpr auto kRest = std::chrono::milliseconds(2);  // in which lines gather

uint64_t lines_in(std::string_view text) { return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

LineWriter::LineWriter(int fd, TellLost tell_lost) : tell_lost_(std::move(tell_lost)), fd_(fd), thread_([this] { run(); }) {}

LineWriter::~LineWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
  ::close(fd_);
}

void LineWriter::write(std::string_view line) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + line.size() >= kWaitingBytesMax) {
      // Half of them at once, so that this is not to be done again for the next line.
      const size_t end = waiting_.find('\n', waiting_.size() / 2);
      const size_t given_up = end == std::string::npos ? waiting_.size() : end + 1;
      lost_ += lines_in(std::string_view(waiting_).substr(0, given_up));
      waiting_.erase(0, given_up);
      reopen_at_ -= std::min(reopen_at_, given_up);
    }
    waiting_.append(line).push_back('\n');
    wakes = std::exchange(sleeps_, false);
  }
  if (wakes) wake_.notify_one();
}

void LineWriter::reopen(Reopen reopen) {
  {
    const std::lock_guard lock(mutex_);
    if (!reopen_) reopen_at_ = waiting_.size();
    reopen_ = std::move(reopen);
    sleeps_ = false;
  }
  wake_.notify_one();
}

void LineWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] {
      sleeps_ = !closing_ && waiting_.empty() && !reopen_;
      return !sleeps_;
    });
    if (waiting_.empty() && !reopen_) return;
    const Reopen reopen = take();
    lock.unlock();
    write_taken();
    if (reopen) change_file(reopen);
    lock.lock();
    wake_.wait_for(lock, kRest, [this] { return closing_; });
  }
}

// Requires: the mutex is held. What goes to the file that is in use now, and what is to be done after that, if anything.
LineWriter::Reopen LineWriter::take() {
  if (reopen_) {
    writing_.assign(waiting_, 0, reopen_at_);
    waiting_.erase(0, reopen_at_);
  } else {
    writing_.swap(waiting_);
  }
  return std::exchange(reopen_, nullptr);
}

void LineWriter::change_file(const Reopen& reopen) {
  const Reopened reopened = reopen();
  if (reopened.fd >= 0) {
    ::close(std::exchange(fd_, reopened.fd));
    cut_ = false;
  }
  if (!reopened.told.empty()) writing_ = reopened.told + "\n";
  write_taken();
}

void LineWriter::write_taken() {
  if (writing_.empty()) return;  // which proves nothing about the file
  const char* failure = write_all(writing_);
  uint64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    lost_ += lines_in(writing_);
    if (failure == nullptr) lost = std::exchange(lost_, 0);
  }
  if (lost > 0) failure = write_told(lost);
  bool failed_before = false;
  {
    const std::lock_guard lock(mutex_);
    if (failure != nullptr) lost_ += lost;  // told another time
    failed_before = std::exchange(failing_, failure != nullptr);
  }
  if (failure != nullptr && !failed_before) {
    std::fprintf(stderr, "armgate: the log cannot be written: %s; its lines are lost until it can\n", failure);
  }
  writing_.clear();
  if (writing_.capacity() > kKeptBytesMax) std::string().swap(writing_);
}

const char* LineWriter::write_told(uint64_t lost) {
  std::string line = tell_lost_(lost) + "\n";
  return write_all(line);
}

// Removes a partly written line from the end of the file, whose readers would take it for a line. Only where the file is
// appended to, and nobody else has written since. False: it stays.
bool LineWriter::take_back(size_t bytes) const {
  struct stat status {};
  const bool appends = (::fcntl(fd_, F_GETFL) & O_APPEND) != 0;
  const bool is_file = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (!appends || !is_file || ::lseek(fd_, 0, SEEK_CUR) != status.st_size) return false;
  return ::ftruncate(fd_, status.st_size - static_cast<off_t>(bytes)) == 0;
}

// Takes away what was written. Null, or why it stopped.
const char* LineWriter::write_all(std::string& lines) {
  size_t done = 0;
  while (done < lines.size()) {
    // A part of a line was written and the rest was not. A line break ends that part, so that the next line stands by itself.
    const std::string_view left = cut_ ? "\n" : std::string_view(lines).substr(done);
    const ssize_t count = ::write(fd_, left.data(), left.size());
    if (count > 0) {
      if (!std::exchange(cut_, false)) done += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {  // whoever shares standard error may have made it so
      pollfd room{fd_, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  const char* const failure = done < lines.size() ? std::strerror(errno) : nullptr;
  const size_t begun = done == 0 ? 0 : lines.rfind('\n', done - 1) + 1;
  if (failure != nullptr && done > begun && take_back(done - begun)) done = begun;
  cut_ = cut_ || (done > 0 && lines[done - 1] != '\n');
  lines.erase(0, done);
  return failure;
}

}  // namespace armgate
