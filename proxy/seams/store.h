// store.h – the seam to where intents and outcomes are recorded (DESIGN: the journal).
//
// Why: a write is recorded before its first byte leaves and again when its outcome is known, so that "did it run?" has
// an answer. The first implementation keeps the records in memory (state/memory_store.h); a durable one takes the same
// seat. No bodies and no tokens are ever recorded (promise P8).
// Threads   any.
#pragma once

#include <cstdint>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "proxy/async/task.h"

namespace armgate {

using IntentId = uint64_t;  // unique: the order of the moment when the write was begun

struct IntentRecord {
  IntentId id = 0;
  Hash128 client;  // keyed hash, never a name or a token
  Hash128 bytes;   // keyed hash of method, host, target and body
  std::string method;
  std::string resource;  // canonical id
  std::string api_version;
  Moment started;
};

enum class OutcomeKind { Answered, NotSent, InDoubt };

struct OutcomeRecord {
  IntentId id = 0;
  OutcomeKind kind = OutcomeKind::Answered;
  int status = 0;             // for Answered
  std::string operation_url;  // without its query, which is signed
  Moment finished;
};

class Store {
 public:
  virtual ~Store() = default;

  // Durable (as durable as this store is) when it returns. An error means that nothing may be sent.
  virtual Task<Result<void>> record_intent(const IntentRecord& record) = 0;
  virtual Task<Result<void>> record_outcome(const OutcomeRecord& record) = 0;
};

}  // namespace armgate
