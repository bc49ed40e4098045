#include "base/fingerprint.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace armgate {
namespace {

Fingerprinter with_key(uint64_t key) { return Fingerprinter(Hasher(HashKey{key, 2})); }

std::string text_of(size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) text.push_back(static_cast<char>('A' + i % 26));
  return text;
}

// Goal: no byte is left out, wherever it stands and however the text ends. Method: lengths around the block of 16 bytes, that of two
// blocks and that of the key; of each the text with one byte changed, for every byte.
TEST(Fingerprint, TellsEveryByte) {
  const Fingerprinter fingerprints = with_key(1);
  for (const size_t length : {1u, 15u, 16u, 17u, 31u, 32u, 33u, 47u, 48u, 1200u, 4095u, 4096u, 4097u}) {
    std::string text = text_of(length);
    const Fingerprint of_text = fingerprints.of(text);
    EXPECT_EQ(fingerprints.of(text), of_text) << length;
    for (char& byte : text) {
      byte ^= 1;
      EXPECT_NE(fingerprints.of(text), of_text) << length;
      byte ^= 1;
    }
  }
}

// Goal: zeros at the end, with which the last block is filled up, count by their number.
TEST(Fingerprint, TellsLengths) {
  const Fingerprinter fingerprints = with_key(1);
  std::string text;
  EXPECT_EQ(fingerprints.of(text), Fingerprint());
  for (int i = 0; i < 40; ++i) {
    const Fingerprint shorter = fingerprints.of(text);
    text.push_back('\0');
    EXPECT_NE(fingerprints.of(text), shorter) << i;
  }
}

// Goal: blocks that change places do not cancel out, which they would under a key of equal words.
TEST(Fingerprint, TellsTheOrderOfBlocks) {
  const Fingerprinter fingerprints = with_key(1);
  EXPECT_NE(fingerprints.of(std::string(16, 'a') + std::string(16, 'b')),
            fingerprints.of(std::string(16, 'b') + std::string(16, 'a')));
}

TEST(Fingerprint, DependsOnTheKey) {
  std::set<Hash128> sums;
  for (uint64_t key = 0; key < 100; ++key) sums.insert(with_key(key).of(text_of(1200)).sum);
  EXPECT_EQ(sums.size(), 100u);
}

}  // namespace
}  // namespace armgate
