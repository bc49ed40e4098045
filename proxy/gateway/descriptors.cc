#include "proxy/gateway/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "proxy/config/config.h"

namespace armgate {
namespace {

// A client's own, the far end of its tunnel, and one to ARM that an earlier client has left.
constexpr size_t kDescriptorsPerConnection = 3;
constexpr size_t kOwnDescriptors = 64 + kAdminConnectionsMax;  // the log, the journal
constexpr size_t kDescriptorsPerLoop = 8;                      // its listeners, and what wakes it

size_t own_descriptors(const Config& config) {
  const size_t loops = config.threads > 0 ? static_cast<size_t>(config.threads) : std::thread::hardware_concurrency();
  return kOwnDescriptors + loops * kDescriptorsPerLoop;
}

}  // namespace

void hold_standard_descriptors() {
  int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlimit most{limit.rlim_max, limit.rlim_max};
  if (limit.rlim_cur < most.rlim_cur) ::setrlimit(RLIMIT_NOFILE, &most);
}

size_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : std::numeric_limits<size_t>::max();
}

size_t connections_max(const Config& config, size_t descriptors) {
  const size_t own = own_descriptors(config);
  const size_t for_clients = descriptors > own ? descriptors - own : 0;
  return std::clamp<size_t>(for_clients / kDescriptorsPerConnection, 1, config.limits.connections);
}

size_t descriptors_needed(const Config& config) {
  return config.limits.connections * kDescriptorsPerConnection + own_descriptors(config);
}

}  // namespace armgate
