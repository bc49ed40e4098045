// client.h – one client of the demo and the ordinary things it does to shared resources.
//
// Why: each does what a real tool was seen doing (reads, thinks, writes the whole resource back; re-sends a POST after
// a reset as the JavaScript SDK does; re-sends a stale body after 409 as go-autorest does), so the harm that the demo
// shows is the harm that real tools do.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "json/tree_fwd.h"
#include "proxy/seams/clock.h"
#include "sim/demo/link.h"

namespace armgate::sim {

// What became of the writes of one phase, from the clients' side.
struct Tally {
  int planned = 0;
  int done = 0;
  int failed = 0;
  int unknown = 0;            // told that nobody can say whether it ran
  int read_again = 0;         // 412: read again and try again
  int clients_left = 0;       // still working
  std::string first_failure;  // one sentence, to tell what happens if it should not

  int finished() const { return done + failed + unknown; }
};

// What an SDK does with 409.
enum class OnConflict {
  Fail,           // JavaScript, Python
  SendSameAgain,  // go-autorest: the same stale bytes, three times
};

class DemoClient {
 public:
  DemoClient(const Executor& executor, Clock& clock, const Route& route, std::string name, uint64_t seed,
             OnConflict on_conflict, std::shared_ptr<Tally> tally);

  // Adds one member to the resource by reading it, thinking, and writing it back whole, `times` times.
  using AddMember = void (*)(nlohmann::json& body, const std::string& member);
  Task<void> add_members(std::string path, AddMember add, std::string increments, int times);

  // Creates subnets as resources of their own.
  Task<void> create_subnets(std::string network, int times);

  // Creates a resource group and, at once, a network in it.
  Task<void> create_group_and_network(std::string subscription);

  // Sends an action to a scale set again and again. A request whose connection breaks is sent again by the SDK.
  enum class Wait { ForOperation, No };
  Task<void> repeat_action(std::string scale_set, std::string action, Wait wait, int times);

 private:
  enum class Outcome { Done, Failed, Stale, Unknown };

  arm::Request make_request(std::string_view method, const std::string& path, std::string body);
  Task<Result<arm::Response>> ask(const arm::Request& request);
  Task<Outcome> write(const arm::Request& request, Wait wait);
  Task<void> await_operation(const arm::Response& accepted);
  Task<Outcome> add_member(const std::string& path, AddMember add, const std::string& increments, const std::string& member);
  Task<void> think(Duration most);
  std::string next_write_id();
  void count(Outcome outcome);
  Outcome fail(const arm::Request& request, const Result<arm::Response>& answer);

  Clock& clock_;
  DemoLink link_;
  const std::string name_;
  Rng rng_;
  const OnConflict on_conflict_;
  const std::shared_ptr<Tally> tally_;
  int writes_ = 0;
};

}  // namespace armgate::sim
