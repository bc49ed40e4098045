// mutex.h – the mutex of tables that all event loops share: abseil's, with its annotations.
//
// Why a name of its own: Debian's abseil is not built for ThreadSanitizer, which therefore takes everything that absl::Mutex
// protects for a race. Under the sanitizer it is std::mutex, whose functions the sanitizer knows; who locks what, and
// when, is the same.
// Threads   any.
#pragma once

#include <absl/base/thread_annotations.h>

#ifdef __SANITIZE_THREAD__
#include <mutex>
#else
#include <absl/synchronization/mutex.h>
#endif

namespace armgate {

#ifdef __SANITIZE_THREAD__

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(*mutex) { mutex_.Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

#else

using Mutex = absl::Mutex;
using MutexLock = absl::MutexLock;

#endif

}  // namespace armgate
