// line_writer.h – adds lines to a file or pipe, by a thread of its own.
//
// Why: a full pipe or a slow disk must not stop an event loop. And why not spdlog's queue: it copies each line three times, and
// a line costs two system calls and five locks (docs/decisions/0012).
//
// Limits    4 MiB of lines wait, while as many may be on their way to a slow reader; beyond that the oldest are given up. A
//           crash loses what waits: of a healthy file what came in the last two milliseconds.
// Threads   any; none waits for the file. Lines are written in the order of their calls.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace armgate {

class LineWriter {
 public:
  // What tells that so many lines were given up or could not be written: a line without its end. Called by whoever writes to
  // the file.
  using TellLost = std::function<std::string(uint64_t lines)>;

  // Owns the descriptor.
  LineWriter(int fd, TellLost tell_lost);
  // Writes what waits, for as long as that takes.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // The line without its end. How many were lost is told behind the next that can be written.
  void write(std::string_view line);

  struct Reopened {
    int fd = -1;       // below 0: the old one stays in use
    std::string told;  // the next line there, without its end; empty: none
  };
  using Reopen = std::function<Reopened()>;

  // What came before goes to the old descriptor, which is closed, and what comes from now on to the one that `reopen` gives.
  // That is called on the writer's thread, as soon as the old one has its lines. Asked again before that, it is done once.
  void reopen(Reopen reopen);

 private:
  void run();
  Reopen take();
  void write_taken();
  void change_file(const Reopen& reopen);
  const char* write_told(uint64_t lost);
  const char* write_all(std::string& lines);
  bool take_back(size_t bytes) const;

  const TellLost tell_lost_;

  // The writer's own.
  int fd_;
  std::string writing_;
  bool cut_ = false;  // the last line was not written to its end

  std::mutex mutex_;  // guards the rest
  std::condition_variable wake_;
  std::string waiting_;
  Reopen reopen_;         // nothing: not asked for
  size_t reopen_at_ = 0;  // so much of waiting_ goes to the old file
  uint64_t lost_ = 0;
  bool failing_ = false;  // nothing can be written
  bool sleeps_ = false;   // the thread, until there is something
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace armgate
