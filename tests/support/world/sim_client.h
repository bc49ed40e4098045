// sim_client.h – a simulated ARM tool: it calls through the pipeline with the habits of a real SDK.
//
// The habits were measured (reference: clients): JavaScript opens a tunnel per request, sends every method again after a
// broken connection or a 5xx, and keeps its request id over that; Go has no ids and sends a 409 again with the same body; az
// uses one id per command and keeps the ETag in the bodies it writes back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/world/sim_world.h"

namespace armgate::world {

struct Habits {
  enum class Tunnels { KeepAlive, NewPerRequest } tunnels = Tunnels::KeepAlive;
  enum class Ids { None, PerRequest, PerCommand } ids = Ids::PerRequest;
  enum class LostAnswers { GiveUp, SendAgain, SendAgainButPost } lost = LostAnswers::SendAgain;
  enum class Polls { Never, UntilDone } polls = Polls::UntilDone;
  enum class KnownBy { Name, Token } known_by = KnownBy::Name;  // where armgate finds who it is
  Duration poll_every = std::chrono::seconds(2);
  bool sends_conflicts_again = false;
  bool keeps_etag_in_body = false;
  int resends = 6;
  Duration client_timeout = std::chrono::seconds(300);  // then it leaves; zero: never
};
// One of the real tools.
Habits habits_of(std::string_view tool);  // "js", "go", "az", "python"

// With a constructor, because g++ 12 destroys an aggregate that is an argument of an awaited call twice.
struct Asked {
  Asked(std::string verb, std::string at, std::string content = {}, arm::Headers more = {})
      : method(std::move(verb)), target(std::move(at)), body(std::move(content)), fields(std::move(more)) {}
  std::string method;
  std::string target;
  std::string body;
  arm::Headers fields;
};

struct Got {
  uint64_t exchange = 0;  // the request's number
  bool whole = false;     // the complete answer came...
  TimePoint at{};         // ...then
  arm::Response answer{};
  int status() const { return whole ? answer.head.status : 0; }
  bool ok() const { return whole && arm::is_success(answer.head.status); }
};

class SimClient {
 public:
  // `user` is the identity (the proxy's user, or the token's principal); clients may share it. `name` is unique.
  SimClient(SimWorld& world, std::string name, std::string user, Habits habits);

  // One request and its answer.
  Task<Got> call(Asked asked);
  // The same with what the SDK does by itself: waits, sends again. For a write it tells the checkers what was acknowledged.
  Task<Got> perform(Asked asked);
  // Follows the operation that an answer announces, if this tool does so.
  Task<void> follow(const arm::Response& answer);

  Task<void> pause(Duration most);
  // The next command begins (one request id per command).
  void begin_command() { command_id_ = next_id("command"); }
  std::string next_id(std::string_view kind);

  SimWorld& world() { return world_; }
  const std::string& name() const { return name_; }
  const Habits& habits() const { return habits_; }

 private:
  struct Connection {
    uint64_t number = 0;
    std::string peer;
    std::shared_ptr<Gate> gate;
    std::vector<Receipt> receipts;
  };
  static Task<void> serve(SimWorld& world, std::shared_ptr<SimLink> link, std::shared_ptr<Connection> connection);
  Task<Got> find_nobody(const Asked& asked);
  // Its armgate learns of what became of the answers: by the first byte of the next request, or by the connection's end.
  static void settle(Connection& connection, void (Receipt::*settle)());
  static void confirm(Connection& connection);
  std::shared_ptr<Connection> connect(std::shared_ptr<Gate> gate);
  Task<void> await_answer(const std::shared_ptr<SimLink>& link);
  std::string authorization();
  static void close_soon(SimWorld& world, std::shared_ptr<Connection> connection);

  SimWorld& world_;
  const std::string name_;
  const std::string user_;
  const Habits habits_;
  std::shared_ptr<Connection> connection_;
  std::string command_id_;
  uint64_t ids_ = 0;
};

}  // namespace armgate::world
