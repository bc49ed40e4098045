// small_files.h – files may have so many bytes while this lives, and what is written beyond that fails, as on a full disk.
//
// Threads   all of the process are meant.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace armgate {

class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : before_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &whole_);
    const rlimit small{bytes, whole_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &whole_);
    ::signal(SIGXFSZ, before_);
  }

 private:
  rlimit whole_{};
  void (*before_)(int);
};

}  // namespace armgate
