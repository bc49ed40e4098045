#include "tests/support/world/sim_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arm/throttle.h"
#include "arm/url.h"
#include "proxy/async/spawn.h"

namespace armgate::world {
namespace {

constexpr std::string_view kHost = "management.azure.com";

bool is_transient(int status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

std::string base64url(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += kDigits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += kDigits[(bits << (6 - count)) & 63];
  return text;
}

// Where an exchange is when something happens to its client, as far as its report tells.
std::string_view stage_of(const SimLink& link) {
  const Report& report = link.exchange.report;
  if (link.exchange.request.head.method == arm::Method::Get) return "read";
  if (link.heads_written() > 0) return "write being answered";
  if (report.attempts > 1) return "write sent again";
  if (report.attempts == 1) return "write sent";
  return report.locks.empty() ? "write before the queue" : "write in the queue";
}

}  // namespace

Habits habits_of(std::string_view tool) {
  Habits habits;
  if (tool == "js") {
    habits.tunnels = Habits::Tunnels::NewPerRequest;
  } else if (tool == "go") {
    habits.ids = Habits::Ids::None;
    habits.sends_conflicts_again = true;
    habits.client_timeout = Duration{};
  } else if (tool == "az") {
    habits.ids = Habits::Ids::PerCommand;
    habits.keeps_etag_in_body = true;
    habits.lost = Habits::LostAnswers::GiveUp;
    habits.tunnels = Habits::Tunnels::NewPerRequest;
  } else {
    habits.lost = Habits::LostAnswers::SendAgainButPost;
  }
  return habits;
}

SimClient::SimClient(SimWorld& world, std::string name, std::string user, Habits habits)
    : world_(world), name_(std::move(name)), user_(std::move(user)), habits_(habits) {
  begin_command();
}

std::string SimClient::next_id(std::string_view kind) { return fmt::format("{}-{}-{}", name_, kind, ++ids_); }

Task<void> SimClient::pause(Duration most) {
  co_await world_.clock().sleep_for(Duration(static_cast<int64_t>(world_.rng().below(static_cast<uint64_t>(most.count())))));
}

// Tokens end on whole periods and are used until shortly before.
std::string SimClient::authorization() {
  const Duration life = world_.options().token_life;
  const bool has_claims = habits_.known_by == Habits::KnownBy::Token;
  const std::string claims =
      has_claims ? fmt::format("e30.{}.", base64url(fmt::format(R"({{"tid":"t","oid":"{}"}})", user_))) : "";
  if (life == Duration{}) return fmt::format("Bearer {}{}", claims, has_claims ? "signature" : user_);
  const auto period = (world_.clock().now().time_since_epoch() + std::chrono::seconds(30)) / life + 1;
  return fmt::format("Bearer {}exp-{}", claims, std::chrono::duration_cast<std::chrono::seconds>(period * life).count());
}

void SimClient::settle(Connection& connection, void (Receipt::*settle)()) {
  if (connection.receipts.empty()) return;
  const auto receipts = std::make_shared<std::vector<Receipt>>(std::exchange(connection.receipts, {}));
  connection.gate->process().when_it_runs([receipts, settle] {
    for (Receipt& receipt : *receipts) (receipt.*settle)();
  });
}

void SimClient::confirm(Connection& connection) { settle(connection, &Receipt::confirm); }

std::shared_ptr<SimClient::Connection> SimClient::connect(std::shared_ptr<Gate> gate) {
  if (!connection_ || connection_->gate != gate) {
    // Behind a balancer: the one before is closed in order.
    const bool is_balanced = world_.options().replicas > 0;
    if (is_balanced && connection_ && !connection_->gate->is_cut()) confirm(*connection_);
    connection_ = std::make_shared<Connection>();
    connection_->number = world_.next_number();
    connection_->gate = std::move(gate);
    const auto addresses = static_cast<uint64_t>(world_.options().clients.addresses);
    connection_->peer = fmt::format("10.0.0.{}", 1 + (addresses > 1 ? world_.rng().below(addresses) : 0));
  }
  return connection_;
}

// As the session of proxy/net does: an answer that was not written whole delivers nothing.
Task<void> SimClient::serve(SimWorld& world, std::shared_ptr<SimLink> link, std::shared_ptr<Connection> connection) {
  Receipt receipt = co_await connection->gate->serve(link);
  if (connection->gate->is_cut()) {
    world.checkers().cut(*link);
    co_return;
  }
  if (link->complete()) {
    connection->receipts.push_back(std::move(receipt));
  } else {
    receipt.drop();
    link->leave(Leaving::Reset);
  }
  world.checkers().answered(*link);
}

Task<void> SimClient::await_answer(const std::shared_ptr<SimLink>& link) {
  const auto& faults = world_.options().clients;
  Rng& rng = world_.rng();
  Duration client_timeout = habits_.client_timeout > Duration{} ? habits_.client_timeout : std::chrono::hours(24);
  const bool leaves = rng.chance(faults.leave);
  if (leaves) client_timeout = Duration(static_cast<int64_t>(rng.below(static_cast<uint64_t>(faults.leave_after_max.count()))));
  const Leaving how = leaves && rng.chance(faults.half_close) ? Leaving::HalfClosed : Leaving::Reset;
  SimWorld* world = &world_;
  const auto timer = world_.clock().call_at(world_.executor(), world_.clock().now() + client_timeout, [world, link, how] {
    if (link->complete() || link->gone()) return;
    world->checkers().left(*link);
    ++world->tally()[fmt::format("fault: {} @ {}", how == Leaving::HalfClosed ? "half-closed" : "left", stage_of(*link))];
    link->leave(how);
  });
  while (!link->complete() && !link->broken()) co_await link->client().wait();
}

Task<Got> SimClient::find_nobody(const Asked& asked) {
  ++world_.tally()[asked.method + " without armgate"];
  connection_ = nullptr;
  co_await pause(std::chrono::milliseconds(500));
  co_return Got{};
}

Task<Got> SimClient::call(Asked asked) {
  const auto& faults = world_.options().clients;
  Rng& rng = world_.rng();
  auto gate = world_.open_gate();
  if (!gate) co_return co_await find_nobody(asked);
  auto connection = connect(std::move(gate));
  co_await connection->gate->process().until_it_runs();
  confirm(*connection);  // the first byte of the next request
  const auto link = std::make_shared<SimLink>(world_.clock(), world_.executor());
  if (rng.chance(faults.read_slowly)) link->read_slowly(std::chrono::milliseconds(rng.below(2000)));
  if (rng.chance(faults.lose_answer)) link->lose_answer();
  Exchange& exchange = link->exchange;
  exchange.arrived = connection->gate->clock().next_moment();
  exchange.executor = world_.executor();
  exchange.from = {connection->number, habits_.known_by == Habits::KnownBy::Name ? user_ : std::string(), connection->peer};
  link->known_as = user_;
  auto& head = exchange.request.head;
  head.method_token = asked.method;
  head.method = arm::method_of(asked.method);
  head.target = std::move(asked.target);
  head.host = kHost;
  head.fields = std::move(asked.fields);
  head.fields.add("Authorization", authorization());
  head.fields.add("x-sim-client", name_);
  const uint64_t number = world_.next_number();
  head.fields.add("x-sim-exchange", std::to_string(number));
  exchange.request.body = std::move(asked.body);
  world_.doing(name_, fmt::format("{} {}", head.method_token, arm::path_of(head.target)));
  if (rng.chance(faults.send_slowly)) co_await pause(std::chrono::seconds(5));
  if (!connection->gate->accepts()) co_return co_await find_nobody(asked);

  world_.checkers().served(*link);
  if (world_.options().replicas > 0) world_.trace().add(world_.clock().now(), "  through replica {}", connection->gate->life());
  spawn(world_.executor(), serve(world_, link, connection));
  co_await await_answer(link);
  if (link->answer_lost()) ++world_.tally()[fmt::format("fault: answer undelivered @ {}", stage_of(*link))];

  Got got;
  got.exchange = number;
  got.whole = link->complete();
  got.at = world_.clock().now();
  if (got.whole) got.answer = link->answer();
  ++world_.tally()[got.whole ? fmt::format("{} {}", asked.method, got.status()) : asked.method + " broken"];
  if (!got.whole) {
    connection_ = nullptr;
    settle(*connection, &Receipt::drop);
  } else if (habits_.tunnels == Habits::Tunnels::NewPerRequest || link->gone()) {
    // The end of the connection travels like everything else: the next request may be faster.
    connection_ = nullptr;
    const Duration travel = std::chrono::milliseconds(rng.below(40));
    SimWorld* world = &world_;
    world->clock().at(world->clock().now() + travel, [connection] { confirm(*connection); });
  }
  co_await pause(std::chrono::milliseconds(50));
  co_return got;
}

Task<Got> SimClient::perform(Asked asked) {
  const bool is_write = asked.method != "GET";
  const std::string write_id = next_id("write");
  if (is_write) asked.fields.add("x-sim-write-id", write_id);
  switch (habits_.ids) {
    case Habits::Ids::None: break;
    case Habits::Ids::PerRequest: asked.fields.add("x-ms-client-request-id", next_id("request")); break;
    case Habits::Ids::PerCommand: asked.fields.add("x-ms-client-request-id", command_id_); break;
  }
  Got got;
  for (int tries = 0;; ++tries) {
    got = co_await call(asked);
    // That something is gone can be told truly whoever deleted it.
    if (got.ok() && is_write && asked.method != "DELETE") world_.checkers().acknowledged(write_id);
    if (tries >= habits_.resends) break;
    if (!got.whole) {
      const bool again = habits_.lost == Habits::LostAnswers::SendAgain ||
                         (habits_.lost == Habits::LostAnswers::SendAgainButPost && asked.method != "POST");
      if (is_write && !again) break;
      co_await pause(std::chrono::seconds(2));
    } else if (is_transient(got.status())) {
      const auto wait = arm::retry_after(got.answer.head.fields, world_.clock().wall());
      co_await world_.clock().sleep_for(wait.value_or(std::chrono::seconds(1)));
    } else if (got.status() == 409 && habits_.sends_conflicts_again) {
      co_await pause(std::chrono::seconds(1));
    } else {
      break;
    }
  }
  co_return got;
}

Task<void> SimClient::follow(const arm::Response& answer) {
  if (habits_.polls == Habits::Polls::Never) co_return;
  const auto status = answer.head.fields.get("Azure-AsyncOperation");
  const auto url = arm::parse_url(status.empty() ? answer.head.fields.get("Location") : status);
  if (!url) co_return;
  for (int polls = 0; polls < 400; ++polls) {
    co_await world_.clock().sleep_for(habits_.poll_every);
    const Got got = co_await call(Asked{"GET", url->target});
    const bool runs = !got.whole || is_transient(got.status()) || got.status() == 202 || got.status() == 401 ||
                      got.answer.body.find(R"("status":"InProgress")") != std::string::npos;
    if (!runs) co_return;
  }
}

}  // namespace armgate::world
