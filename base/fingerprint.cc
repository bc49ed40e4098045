#include "base/fingerprint.h"

#include <cstring>
#include <string>

namespace armgate {
namespace {

using Wide = unsigned __int128;

// The key's words are added, not xored, as the theorem has it.
Wide product(const char* block, const uint64_t* key) {
  std::array<uint64_t, 2> words;
  std::memcpy(words.data(), block, sizeof words);
  return static_cast<Wide>(words[0] + key[0]) * (words[1] + key[1]);
}

}  // namespace

Fingerprinter::Fingerprinter(const Hasher& hasher) : hasher_(hasher) {
  for (size_t i = 0; i < kWords; i += 2) {
    const Hash128 words = hasher.hash_fields("fingerprint", std::to_string(i));
    key_[i] = words.high;
    key_[i + 1] = words.low;
  }
}

Fingerprint Fingerprinter::of(std::string_view text) const {
  if (text.size() > kWords * sizeof(uint64_t)) return {hasher_.hash(text), text.size()};
  const char* block = text.data();
  const uint64_t* key = key_.data();
  size_t left = text.size();
  Wide even = 0;  // two sums, because each addition waits for the one before
  Wide odd = 0;
  for (; left >= 2 * kBlock; left -= 2 * kBlock, block += 2 * kBlock, key += 4) {
    even += product(block, key);
    odd += product(block + kBlock, key + 2);
  }
  if (left >= kBlock) {
    even += product(block, key);
    left -= kBlock;
    block += kBlock;
    key += 2;
  }
  if (left > 0) {
    std::array<char, kBlock> last{};
    std::memcpy(last.data(), block, left);
    odd += product(last.data(), key);
  }
  const Wide sum = even + odd;
  return {{static_cast<uint64_t>(sum >> 64), static_cast<uint64_t>(sum)}, text.size()};
}

}  // namespace armgate
