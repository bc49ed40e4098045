// admin_files.h – the live page of the admin listener: what it consists of.
//
// Why: whoever looks on while a pipeline waits wants to see who is in the way, without installing anything. The files are those
// of page/, which the build puts into the program (CMakeLists.txt). The page asks /status, /recent and /decisions (admin.h); it
// has no data of its own.
#pragma once

#include <span>
#include <string_view>

namespace armgate {

struct AdminFile {
  std::string_view path;  // "/" is the page itself
  std::string_view type;
  std::string_view content;
};

std::span<const AdminFile> admin_files();

// Null: no part of the page.
const AdminFile* find_admin_file(std::string_view path);

}  // namespace armgate
