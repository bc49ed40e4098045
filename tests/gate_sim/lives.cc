#include "tests/gate_sim/lives.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <utility>

#include "tests/gate_sim/workloads/knowing.h"

namespace armgate::world {
namespace {

constexpr int kTriesMax = 40;  // for one change

// What some tools do by themselves.
void name_base(SimClient& client, arm::Headers& fields, std::string_view field, std::string_view etag) {
  SimWorld& world = client.world();
  const double often = world.options().clients.names_base;
  if (often <= 0 || etag.empty() || !world.rng().chance(often)) return;
  fields.set(std::string(field), std::string(etag));
  ++world.tally()["preconditions of clients' own"];
}

// One change, from the read to the write that took it in. True if it is in.
struct Change {
  Subject subject;
  std::string member;
  Writing writing;
};

Task<bool> change_once(SimClient& client, const Change& change, std::optional<Known>& in_hand) {
  const Subject& subject = change.subject;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    client.begin_command();
    const bool copies = change.writing.reads == ReadsBy::Copy;
    std::optional<Known> known = std::exchange(in_hand, std::nullopt);
    if (!known || copies) {
      auto fresh = co_await look(client, subject, change.writing.reads);
      if (fresh) known = std::move(fresh);
    }
    if (!known) {
      co_await client.pause(std::chrono::seconds(5));
      continue;
    }
    if (has_member(known->body, subject.change, change.member)) co_return true;  // a write that seemed to fail
    co_await client.pause(change.writing.think_max);
    Asked asked{"PUT", subject.target, {}, known->declares};
    const auto etag = client.habits().keeps_etag_in_body ? BodyEtag::Kept : BodyEtag::Dropped;
    asked.body = with_change(known->body, subject.change, change.member, etag, asked.fields);
    if (change.writing.marks_tries) {
      asked.body =
          with_change(asked.body, ChangeKind::AddTag, fmt::format("{}-try-{}", change.member, tries), etag, asked.fields);
    }
    declare_changes(asked.fields, subject, known->body, asked.body);
    if (static_cast<int>(client.world().rng().below(100)) < change.writing.operation_failures_in_hundred) {
      asked.fields.set("x-sim-operation-result", "Failed");
    }
    name_base(client, asked.fields, "If-Match", known->declares.get("x-sim-base-etag"));
    if (copies) in_hand = known;
    const std::string own_object = asked.body;
    const Got got = co_await client.perform(std::move(asked));
    if (got.ok()) {
      in_hand.reset();
      if (change.writing.reads == ReadsBy::OwnRequest) {
        in_hand = Known{own_object, {}};
        declare_when(in_hand->declares, got);
      }
      if (change.writing.reads == ReadsBy::OwnAnswer && got.answer.head.fields.has("x-sim-version")) {
        in_hand = Known{got.answer.body, {}};
        declare_version(in_hand->declares, got);
      }
      co_await client.follow(got.answer);
      co_return true;
    }
    co_await client.pause(change.writing.again_max);
  }
  co_return false;
}

}  // namespace

Task<void> change_repeatedly(std::shared_ptr<SimClient> client, Subject subject, Writing writing) {
  co_await client->pause(writing.again_max);
  std::optional<Known> in_hand;
  for (int i = 0; i < writing.writes; ++i) {
    const Change change{subject, fmt::format("{}-{}", client->name(), i), writing};
    const bool in = co_await change_once(*client, change, in_hand);
    ++client->world().tally()[in ? "changes done" : "changes given up"];
    co_await client->pause(writing.pause_max);
  }
}

Task<void> create_or_change(std::shared_ptr<SimClient> client, Subject subject) {
  co_await client->pause(std::chrono::seconds(1));
  const std::string member = client->name();
  for (int tries = 0; tries < kTriesMax; ++tries) {
    client->begin_command();
    const Got got = co_await client->perform(Asked{"GET", subject.target});
    Asked asked{"PUT", subject.target};
    if (got.status() == 200) {
      if (has_member(got.answer.body, subject.change, member)) break;
      declare_version(asked.fields, got);
      asked.body = with_change(got.answer.body, subject.change, member, BodyEtag::Dropped, asked.fields);
      declare_changes(asked.fields, subject, got.answer.body, asked.body);
      name_base(*client, asked.fields, "If-Match", asked.fields.get("x-sim-base-etag"));
    } else if (got.status() == 404) {
      declare_when(asked.fields, got);
      asked.fields.set("x-sim-base", "absent");
      asked.body = with_change(subject.initial, subject.change, member, BodyEtag::Dropped, asked.fields);
      name_base(*client, asked.fields, "If-None-Match", "*");
    } else {
      co_await client->pause(std::chrono::seconds(3));
      continue;
    }
    co_await client->pause(std::chrono::seconds(1));
    const Got put = co_await client->perform(std::move(asked));
    if (put.ok()) {
      co_await client->follow(put.answer);
      ++client->world().tally()["changes done"];
      co_return;
    }
    co_await client->pause(std::chrono::seconds(2));
  }
  ++client->world().tally()["create races ended without a write"];
}

Task<void> create_and_delete(std::shared_ptr<SimClient> client, Subject subject, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await create_or_change(client, subject);
    co_await client->pause(std::chrono::seconds(4));
    client->begin_command();
    const Got got = co_await client->perform(Asked{"DELETE", subject.target});
    if (got.ok()) co_await client->follow(got.answer);
    co_await client->pause(std::chrono::seconds(2));
  }
}

Task<void> delete_sometimes(std::shared_ptr<SimClient> client, Subject subject, int times) {
  for (int i = 0; i < times; ++i) {
    co_await client->pause(std::chrono::seconds(60));
    client->begin_command();
    const Got got = co_await client->perform(Asked{"DELETE", subject.target});
    if (got.ok()) co_await client->follow(got.answer);
  }
}

Task<void> patch_stubbornly(std::shared_ptr<SimClient> client, Subject subject, int times, uint64_t failures_in_hundred) {
  for (int i = 0; i < times; ++i) {
    client->begin_command();
    Asked asked{"PATCH", subject.target, R"({"sku":{"capacity":3}})"};
    if (client->world().rng().below(100) < failures_in_hundred) asked.fields.set("x-sim-operation-result", "Failed");
    const Got got = co_await client->perform(std::move(asked));
    if (got.ok()) co_await client->follow(got.answer);
    co_await client->pause(std::chrono::seconds(2));
  }
}

namespace {

// PUTs it until it is there.
Task<void> put_child(SimClient& client, const Subject& child) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    client.begin_command();
    Asked asked{"PUT", child.target, child.initial};
    const Got got = co_await client.perform(std::move(asked));
    if (got.ok()) co_await client.follow(got.answer);
    if (got.ok()) break;
    const Got seen = co_await client.perform(Asked{"GET", child.target});
    if (seen.status() == 200) break;
    co_await client.pause(std::chrono::seconds(2));
  }
  co_await client.pause(std::chrono::seconds(3));
}

}  // namespace

Task<void> put_children(std::shared_ptr<SimClient> client, std::string network_name, int count) {
  for (int i = 0; i < count; ++i) {
    const Subject child = subnet(network_name, fmt::format("{}-child-{}", client->name(), i));
    co_await put_child(*client, child);
  }
}

Task<void> put_rules(std::shared_ptr<SimClient> client, std::string group_name, int count) {
  for (int i = 0; i < count; ++i) {
    const Subject child = security_rule(group_name, fmt::format("{}-rule-{}", client->name(), i));
    co_await put_child(*client, child);
  }
}

Task<void> tag_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int times) {
  const std::string target = tags_target(subject);
  for (int i = 0; i < times; ++i) {
    const std::string tag = fmt::format("{}-tag-{}", client->name(), i);
    bool in = false;
    for (int tries = 0; tries < kTriesMax && !in; ++tries) {
      client->begin_command();
      Asked asked{"PATCH", target, fmt::format(R"({{"operation":"Merge","properties":{{"tags":{{"{}":"here"}}}}}})", tag)};
      const Got got = co_await client->perform(std::move(asked));
      in = got.ok();
      if (in) break;
      const Got seen = co_await client->perform(Asked{"GET", target});
      in = seen.status() == 200 && seen.answer.body.find(tag) != std::string::npos;
      co_await client->pause(std::chrono::seconds(2));
    }
    ++client->world().tally()[in ? "changes done" : "changes given up"];
    co_await client->pause(std::chrono::seconds(3));
  }
}

Task<void> write_file_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int versions) {
  for (int version = 0; version < versions; ++version) {
    bool in = false;
    for (int tries = 0; tries < kTriesMax && !in; ++tries) {
      client->begin_command();
      auto known = co_await look(*client, subject, ReadsBy::Point);
      co_await client->pause(std::chrono::seconds(1));
      if (!known) continue;
      Asked asked("PUT", subject.target, file_body(subject, version), known->declares);
      declare_changes(asked.fields, subject, known->body, asked.body);
      declare_removals(asked.fields, subject, known->body, asked.body);
      const Got got = co_await client->perform(std::move(asked));
      in = got.ok();
      if (in) co_await client->follow(got.answer);
    }
    ++client->world().tally()[in ? "changes done" : "changes given up"];
    co_await client->pause(std::chrono::seconds(3));
  }
}

Task<void> restart_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int times) {
  const std::string path(arm::path_of(subject.target));
  for (int i = 0; i < times; ++i) {
    client->begin_command();
    Asked asked{"POST", fmt::format("{}/restart?{}", path, arm::query_of(subject.target))};
    const Got got = co_await client->perform(std::move(asked));
    if (got.ok()) co_await client->follow(got.answer);
    co_await client->pause(std::chrono::seconds(5));
  }
}

Task<void> restart_forgetfully(std::shared_ptr<SimClient> client, Subject subject, int times, Names names) {
  SimWorld& world = client->world();
  const std::string target = fmt::format("{}/restart?{}", arm::path_of(subject.target), arm::query_of(subject.target));
  for (int i = 0; i < times; ++i) {
    arm::Headers fields{{"x-sim-write-id", client->next_id("write")}};
    if (names == Names::Given) {
      const auto now = std::chrono::floor<std::chrono::seconds>(world.clock().wall());
      fields.add("Repeatability-Request-ID", client->next_id("name"));
      fields.add("Repeatability-First-Sent", fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", now));
    }
    for (uint64_t again = 1 + world.rng().below(4); again > 0; --again) {
      Asked asked{"POST", target, "", fields};
      const Got got = co_await client->call(std::move(asked));
      if (got.ok() && world.rng().chance(0.5)) co_await client->follow(got.answer);
      co_await client->pause(std::chrono::seconds(20));
    }
  }
}

Task<void> read_repeatedly(std::shared_ptr<SimClient> client, Subject subject, int times) {
  for (int i = 0; i < times; ++i) {
    const bool lists = client->world().rng().chance(0.2);
    const std::string target = lists ? list_target(subject) : subject.target;
    Asked asked("GET", target);
    co_await client->call(std::move(asked));
    co_await client->pause(std::chrono::seconds(3));
  }
}

Task<void> change_around(SimWorld& world, std::string name, Subject subject, int writes) {
  // One who counted around armgate from 2 to 3 could not be told from the client whose own 3 got lost on its way.
  const bool counts = subject.change == ChangeKind::CountInTag || subject.change == ChangeKind::RaiseCapacity;
  ChangeKind change = counts ? ChangeKind::AddTag : subject.change;
  if (change == ChangeKind::RaisePool) change = ChangeKind::MarkChild;
  for (int i = 0; i < writes; ++i) {
    co_await world.clock().sleep_for(Duration(static_cast<int64_t>(world.rng().below(8'000'000'000))));
    arm::Request read;
    read.head.target = subject.target;
    const auto seen = world.arm().handle(read, world.clock().now()).response;
    if (seen.head.status != 200) continue;
    arm::Request write;
    write.head.method = arm::Method::Put;
    write.head.method_token = "PUT";
    write.head.target = subject.target;
    write.head.fields.add("If-Match", etag_in(seen.body));
    write.head.fields.add("x-sim-client", name);
    write.head.fields.add("x-sim-write-id", fmt::format("{}-write-{}", name, i));
    write.body = with_change(seen.body, change, fmt::format("{}-{}", name, i), BodyEtag::Dropped, write.head.fields);
    const auto answer = world.arm().handle(write, world.clock().now()).response;
    world.trace().add(world.clock().now(), "around armgate: {} -> {}", short_path(subject.target), answer.head.status);
    ++world.tally()["around"];
  }
}

void prepare(SimWorld& world, const Subject& subject) {
  for (const auto& [target, body] :
       {std::pair(group_target(), group("rg").initial), std::pair(subject.target, subject.initial)}) {
    arm::Request request;
    request.head.method = arm::Method::Put;
    request.head.method_token = "PUT";
    request.head.target = target;
    request.head.fields.add("x-sim-operation-ms", "0");
    request.body = body;
    world.arm().handle(request, world.clock().now());
  }
}

}  // namespace armgate::world
