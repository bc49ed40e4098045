#include "proxy/observability/admin_files.h"

#include <algorithm>

namespace armgate {

const AdminFile* find_admin_file(std::string_view path) {
  const auto files = admin_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const AdminFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace armgate
