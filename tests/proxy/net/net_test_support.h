// net_test_support.h – an event loop, a clock that tests move, real sockets, and a certificate authority for tests.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "certs/cert_cache.h"
#include "certs/certificate.h"
#include "proxy/async/spawn.h"
#include "proxy/async/waiter.h"
#include "proxy/net/socket/socket.h"
#include "proxy/net/upstream/name_resolver.h"

namespace armgate::net {

// Time stands still until advance().
class TestClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  // TLS verifies against the system's time, so leaves are minted for it.
  WallTime wall() const override { return WallTime(std::chrono::seconds(::time(nullptr))); }
  Moment next_moment() override { return {++moments_, now_}; }
  std::unique_ptr<TimerHandle> call_at(const Executor& executor, TimePoint when, std::function<void()> callback) override {
    auto entry = std::make_shared<Entry>(Entry{executor, std::move(callback)});
    timers_->emplace(when, entry);
    return std::make_unique<Handle>(entry);
  }
  Task<void> sleep_until(TimePoint when) override {
    const Executor executor = co_await current_executor();
    Waiter waiter(executor);
    const auto timer = call_at(executor, when, [&waiter] { waiter.signal(1); });
    co_await waiter.wait();
  }
  void advance(Duration by) {
    now_ += by;
    while (!timers_->empty() && timers_->begin()->first <= now_) {
      auto entry = timers_->begin()->second;
      timers_->erase(timers_->begin());
      boost::asio::post(entry->executor, [entry] {
        if (const auto then = std::exchange(entry->callback, nullptr)) then();
      });
    }
  }

 private:
  struct Entry {
    Executor executor;
    std::function<void()> callback;
  };
  struct Handle final : TimerHandle {
    explicit Handle(std::shared_ptr<Entry> of) : entry(std::move(of)) {}
    ~Handle() override { entry->callback = nullptr; }
    std::shared_ptr<Entry> entry;
  };
  TimePoint now_{std::chrono::hours(1)};
  uint64_t moments_ = 0;
  std::unique_ptr<std::multimap<TimePoint, std::shared_ptr<Entry>>> timers_ =
      std::make_unique<std::multimap<TimePoint, std::shared_ptr<Entry>>>();
};

class NetTest : public ::testing::Test {
 protected:
  Executor executor() { return io_.get_executor(); }

  // Runs the loop until `done` holds; fails if it has not within some seconds of real time.
  template <class Done>
  bool run_until(Done done) {
    for (int i = 0; i < 2000; ++i) {
      while (io_.poll() > 0) {
      }
      if (done()) return true;
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(5));
      io_.restart();
    }
    ADD_FAILURE() << "nothing happened";
    return false;
  }
  // Runs everything that is ready now.
  void settle() {
    for (int i = 0; i < 5; ++i) {
      io_.restart();
      while (io_.poll() > 0) {
      }
      io_.run_one_for(std::chrono::milliseconds(1));
    }
    io_.restart();
  }
  // The result of a task.
  template <class T>
  T await(Task<T> task) {
    std::optional<T> result;
    spawn(executor(), store(std::move(task), result));
    run_until([&] { return result.has_value(); });
    return *std::move(result);
  }
  void await(Task<void> task) {
    bool done = false;
    spawn(executor(), flag(std::move(task), done));
    run_until([&] { return done; });
  }
  void start(Task<void> task, bool& done) { spawn(executor(), flag(std::move(task), done)); }

  std::unique_ptr<Socket> wrap(int fd, ErrorSource source = ErrorSource::Client) {
    return std::make_unique<Socket>(clock_, executor(), fd, Peer{source, "the peer"});
  }

  TestClock clock_;
  boost::asio::io_context io_{1};
  NameResolver names_{clock_, 1};

 private:
  // Without work the loop would not wait: what was sent over loopback may arrive later than it.
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{io_.get_executor()};

  template <class T>
  static Task<void> store(Task<T> task, std::optional<T>& result) {
    result.emplace(co_await std::move(task));
  }
  static Task<void> flag(Task<void> task, bool& done) {
    co_await std::move(task);
    done = true;
  }
};

// Two ends of a TCP connection over loopback; the first is meant for the code under test.
inline std::pair<int, int> make_tcp_pair() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  GATE_CHECK(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0, "there is a free port");
  ::listen(listener, 1);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  GATE_CHECK(::connect(client, reinterpret_cast<sockaddr*>(&address), size) == 0, "the listener takes one");
  const int server = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  return {server, client};
}

inline int connect_to_port(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

inline void send_text(int fd, std::string_view text) {
  EXPECT_EQ(::send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

inline std::string empty_lines(size_t bytes) {
  std::string lines;
  while (lines.size() < bytes) lines += "\r\n";
  return lines;
}

// It will end with RST instead of FIN.
inline void reset_when_closed(int fd) {
  const linger at_once{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

inline void reset(int fd) {
  reset_when_closed(fd);
  ::close(fd);
}

// What a test client has received so far.
struct Received {
  std::string text;
  bool ended = false;   // FIN
  bool broken = false;  // RST
  void take_from(int fd) {
    char piece[4096];
    while (!ended && !broken) {
      const ssize_t count = ::recv(fd, piece, sizeof piece, MSG_DONTWAIT);
      if (count > 0)
        text.append(piece, static_cast<size_t>(count));
      else if (count == 0)
        ended = true;
      else if (errno == EAGAIN || errno == EWOULDBLOCK)
        return;
      else
        broken = true;
    }
  }
};

// An authority for *.example.test with its root in a file.
class TestAuthority {
 public:
  TestAuthority() : cache_(*certs::LeafMinter::make(*certs::make_authority({"example.test"}, now())), {100}) {
    std::string name = (std::filesystem::temp_directory_path() / "armgate-net-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    std::ofstream(root_file()) << *certs::to_pem(cache_.authority().root.get());
  }
  ~TestAuthority() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  // The verification of TLS handshakes uses the system's time, so certificates must be valid then.
  static WallTime now() { return WallTime(std::chrono::seconds(::time(nullptr))); }
  std::filesystem::path root_file() const { return directory_ / "ca.pem"; }
  certs::CertCache& cache() { return cache_; }

 private:
  std::filesystem::path directory_;
  certs::CertCache cache_;
};

}  // namespace armgate::net
