// workload.h – which requests a load test sends, one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/load/options.h"
#include "bench/load/zipf.h"

namespace armgate::load {

enum class Kind { Get, Put, Update };

struct Operation {
  Kind kind = Kind::Get;
  uint64_t resource = 0;
  size_t client = 0;
};

class Workload {
 public:
  Workload(const LoadOptions& options, std::string authority, uint64_t seed);

  Operation next(size_t connection);

  // Whole requests, valid until the next call.
  const std::string& get_request(const Operation& operation);
  const std::string& put_request(const Operation& operation);
  // The PUT of a read-modify-write: what was read, with the tag "load" changed. Nothing if it is no JSON object.
  const std::string* update_request(const Operation& operation, const std::string& was_read);

 private:
  void begin(std::string_view method, const std::string& path, const Operation& operation);
  const std::string& finish(std::string_view body);

  const LoadOptions& options_;
  const std::vector<std::string> fields_;  // the same in every request of a client
  const Zipf zipf_;
  Rng rng_;
  uint64_t values_ = 0;
  std::string request_;
};

}  // namespace armgate::load
