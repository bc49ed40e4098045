#include "proxy/gateway/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace armgate {

void hold_standard_descriptors() {
  int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
}

size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit most{limit.rlim_max, limit.rlim_max};
  if (limit.rlim_cur < most.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &most) == 0) limit = most;
  return limit.rlim_cur;
}

}  // namespace armgate
