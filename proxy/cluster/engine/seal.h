// seal.h – what makes a row unreadable to everybody but the replicas: AES-256-GCM with a key from a file that they share and
// the engine never sees (promise P8, docs/design.md).
//
// Threads   any.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

namespace armgate::cluster {

class ClusterKey {
 public:
  // From what the file holds: 32 bytes or more, whatever they are.
  static Result<ClusterKey> from_secret(std::string_view secret);
  // Of a file that nobody else can read. BadInput if it is not there, too short, or open to others.
  static Result<ClusterKey> load(const std::filesystem::path& file);

  // `place` says where the bytes belong: put elsewhere, they cannot be opened.
  std::string seal(std::string_view plain, std::string_view place) const;
  std::optional<std::string> open(std::string_view sealed, std::string_view place) const;

  // The key of the hashes that stand for clients and resources; the same for all replicas.
  HashKey hash_key() const;
  // By it another key is noticed; tells nothing of this one.
  std::string fingerprint() const;

 private:
  using Bytes = std::array<unsigned char, 32>;
  explicit ClusterKey(std::string_view secret);
  Bytes sealing_{};
  Bytes hashing_{};
  Bytes told_{};
};

// Where a row of the log belongs: it is sealed with its author and that one's number for it, so that one that was moved cannot
// be opened.
std::string place_of_row(uint32_t author, uint64_t batch);

}  // namespace armgate::cluster
