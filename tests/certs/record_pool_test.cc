#include "certs/record_pool.h"

#include <gtest/gtest.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace armgate::certs {
namespace {

const bool kPooled = use_record_pool();  // before anything of OpenSSL is used

constexpr size_t kRecordBytes = 16'704;

class RecordPool : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(kPooled); }

  static char* take() { return static_cast<char*>(OPENSSL_malloc(kRecordBytes)); }
  static void put(char* place, size_t bytes) { std::fill_n(place, bytes, 's'); }
  // What is found in the block that came back last.
  static bool holds_a_secret() {
    char* const block = take();
    const bool found = std::string_view(block, kRecordBytes).find('s') != std::string_view::npos;
    OPENSSL_free(block);
    return found;
  }
};

TEST_F(RecordPool, HandsOutWhatCameBackLast) {
  char* const one = take();
  char* const two = take();
  EXPECT_EQ(record_blocks_in_use(), 2u);
  OPENSSL_free(one);
  OPENSSL_free(two);
  EXPECT_EQ(record_blocks_in_use(), 0u);
  EXPECT_EQ(take(), two);
  EXPECT_EQ(take(), one);
  OPENSSL_free(two);
  OPENSSL_free(one);
}

TEST_F(RecordPool, WipesWhatOneReadHasPutThere) {
  char* const block = take();
  put(block + 3, 2'000);
  note_record_read(block + 3, 2'000);
  OPENSSL_free(block);
  EXPECT_FALSE(holds_a_secret());
}

// The second read may stand before the rest of the first, which OpenSSL has moved to the beginning.
TEST_F(RecordPool, WipesAllAfterASecondRead) {
  char* const block = take();
  put(block + 3, 9'000);
  note_record_read(block + 3, 9'000);
  note_record_read(block + 100, 500);
  OPENSSL_free(block);
  EXPECT_FALSE(holds_a_secret());
}

TEST_F(RecordPool, WipesAllOfABlockWhoseReadIsForgottenForAnothers) {
  char* const block = take();
  put(block + 3, 9'000);
  note_record_read(block + 3, 9'000);
  char* const other = take();
  note_record_read(other + 3, 5);
  OPENSSL_free(other);
  OPENSSL_free(block);
  EXPECT_FALSE(holds_a_secret());
}

TEST_F(RecordPool, WipesWhatItKnowsNothingAbout) {
  char* const block = take();
  put(block, kRecordBytes);
  OPENSSL_free(block);
  EXPECT_FALSE(holds_a_secret());
  char* const again = take();  // what was noted about a block ends with it
  note_record_written(again);
  OPENSSL_free(again);
  ASSERT_EQ(take(), again);
  put(again, kRecordBytes);
  OPENSSL_free(again);
  EXPECT_FALSE(holds_a_secret());
}

TEST_F(RecordPool, KeepsSoManyBlocksAndLeavesOtherMemoryAlone) {
  constexpr size_t kBlocks = 100;
  std::vector<char*> blocks;
  blocks.reserve(kBlocks);
  while (blocks.size() < kBlocks) blocks.push_back(take());
  for (char* const block : blocks) OPENSSL_free(block);
  EXPECT_EQ(record_blocks_in_use(), 0u);
  char* text = static_cast<char*>(OPENSSL_malloc(10));
  text = static_cast<char*>(OPENSSL_realloc(text, 40'000));
  EXPECT_EQ(record_blocks_in_use(), 0u);
  OPENSSL_free(text);
  OPENSSL_free(nullptr);
}

}  // namespace
}  // namespace armgate::certs
