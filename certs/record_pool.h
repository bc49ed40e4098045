// record_pool.h – the memory in which OpenSSL reads and writes TLS records.
//
// Why: OpenSSL takes 17 KB for reading and as much for writing. Kept with their connection, thousands of idle ones hold them
// for nothing, and with 64 busy ones each record is copied through memory that has left the processor's cache. A connection of
// ours has them for one record only (SSL_MODE_RELEASE_BUFFERS), and is given the block that came back last.
//
// Invariants
//   1. What was decrypted in a block is wiped when it comes back: no token outlives its record here. OpenSSL's own way
//      (SSL_OP_CLEANSE_PLAINTEXT) wipes 17 KB each time, eight bytes at a time.
// Threads   any; each has a pool of its own.
// Limits    a thread keeps 32 blocks.
#pragma once

#include <cstddef>

namespace armgate::certs {

// From now on. Before anything of OpenSSL is used, else false: nothing is changed then, and nothing is wiped.
bool use_record_pool();

// Called after each read and each write for OpenSSL, so that only used bytes are wiped: the system has put bytes there;
// encrypted bytes from there were written.
void note_record_read(const char* begin, size_t bytes);
void note_record_written(const char* begin);

// Blocks that this thread has handed out and not taken back.
size_t record_blocks_in_use();

}  // namespace armgate::certs
