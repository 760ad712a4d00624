// SPDX-License-Identifier: MIT
#include "world_build/output_lock.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace meridian::tools {

OutputLock::~OutputLock() {
  if (fd_ >= 0) ::close(fd_);
}

int OutputLock::take(const std::string& path, const ToolIo& io) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) return errno;
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return errno;
    if (io.cancelled()) return EINTR;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

}  // namespace meridian::tools
