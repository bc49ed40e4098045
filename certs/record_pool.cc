#include "certs/record_pool.h"

#include <malloc.h>
#include <openssl/crypto.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

namespace armgate::certs {
namespace {

// A record's 2^14 bytes with what OpenSSL 3 adds for either direction: head, padding, alignment.
constexpr size_t kSmallest = 16 * 1024 + 1;
constexpr size_t kBlock = 17 * 1024;
constexpr size_t kLargest = kBlock + 4 * 1024;  // as allocators round it up
constexpr size_t kKept = 32;

bool is_within(const char* place, const char* block) {
  return block != nullptr && !std::less<>()(place, block) && std::less<>()(place, block + kBlock);
}

// Trivial to destroy: OpenSSL gives memory back until the very end of a thread.
struct Pool {
  std::array<char*, kKept> kept;
  size_t kept_count;
  size_t in_use;
  char* taken_last;
  // Since it was taken, all that the system has put into it is `read_bytes` at its beginning.
  char* read_once;
  size_t read_bytes;
  char* written;  // what stands there is encrypted
};
constinit thread_local Pool pool{};

char* take() {
  ++pool.in_use;
  if (pool.kept_count > 0) return pool.taken_last = pool.kept[--pool.kept_count];
  return pool.taken_last = static_cast<char*>(std::malloc(kBlock));
}

void give_back(char* block, size_t bytes) {
  if (pool.in_use > 0) --pool.in_use;  // else another thread's
  if (block == pool.read_once) {
    ::explicit_bzero(block, pool.read_bytes);
  } else if (block != pool.written) {
    ::explicit_bzero(block, bytes);
  }
  for (char** note : {&pool.taken_last, &pool.read_once, &pool.written}) {
    if (*note == block) *note = nullptr;
  }
  if (pool.kept_count < kKept) {
    pool.kept[pool.kept_count++] = block;
  } else {
    std::free(block);
  }
}

void* allocate(size_t bytes, const char*, int) { return bytes >= kSmallest && bytes <= kBlock ? take() : std::malloc(bytes); }

void release(void* memory, const char*, int) {
  const size_t bytes = memory == nullptr ? 0 : ::malloc_usable_size(memory);
  if (bytes >= kBlock && bytes < kLargest) {
    give_back(static_cast<char*>(memory), bytes);
  } else {
    std::free(memory);
  }
}

void* reallocate(void* memory, size_t bytes, const char*, int) { return std::realloc(memory, bytes); }

}  // namespace

bool use_record_pool() { return CRYPTO_set_mem_functions(allocate, reallocate, release) == 1; }

void note_record_read(const char* begin, size_t bytes) {
  const bool first = is_within(begin, pool.taken_last);
  if (first) pool.read_bytes = static_cast<size_t>(begin - pool.taken_last) + bytes;
  pool.read_once = std::exchange(pool.taken_last, nullptr);
  if (!first) pool.read_once = nullptr;
}

void note_record_written(const char* begin) { pool.written = is_within(begin, pool.taken_last) ? pool.taken_last : nullptr; }

size_t record_blocks_in_use() { return pool.in_use; }

}  // namespace armgate::certs
