#include "cli/heal/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "arm/http.h"
#include "base/text.h"
#include "base/utc.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<Phase, std::string_view> kPhaseNames[] = {
    {Phase::Guards, "guards"},   {Phase::Abort, "abort"}, {Phase::Recheck, "recheck"},   {Phase::StandIn, "stand-in"},
    {Phase::Discard, "discard"}, {Phase::Drain, "drain"}, {Phase::Delete, "delete"},     {Phase::Recreate, "recreate"},
    {Phase::Remove, "remove"},   {Phase::Mark, "mark"},   {Phase::Check, "final-check"}, {Phase::Undo, "undo"}};
constexpr std::pair<Event::Kind, std::string_view> kKindNames[] = {
    {Event::Kind::Begin, "begin"},     {Event::Kind::Access, "access"},     {Event::Kind::Taken, "snapshot"},
    {Event::Kind::Intend, "intend"},   {Event::Kind::Answer, "answer"},     {Event::Kind::Done, "done"},
    {Event::Kind::Stopped, "stopped"}, {Event::Kind::Finished, "finished"}, {Event::Kind::Recovered, "recovered"},
    {Event::Kind::Undone, "undone"}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  const auto found = std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.first == value; });
  return found->second;
}

template <class Table>
auto value_in(const Table& table, std::string_view name) {
  const auto found = std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.second == name; });
  return found == std::end(table) ? std::nullopt : std::optional(found->first);
}

void apply_intent(Phase phase, Progress& progress) {
  Progress::Sent& sent = progress.sent[static_cast<size_t>(phase)];
  sent.perhaps_taken = sent.may_have_run();
  sent.intended = sent.unanswered = true;
  // Then the stand-in is to be made anew.
  if (phase == Phase::Discard) progress.sent[static_cast<size_t>(Phase::StandIn)].status = 0;
}

void apply_answer(int status, Progress::Sent& sent) {
  sent.status = status;
  sent.unanswered = false;
  if (!arm::was_refused(status)) sent.perhaps_taken = true;
  if (sent.accepted()) ++sent.times_taken;
}

}  // namespace

std::string_view to_text(Phase phase) { return name_in(kPhaseNames, phase); }

std::string minutes_text(Duration duration) {
  return fmt::format("{:.6g}", std::chrono::duration<double, std::ratio<60>>(duration).count());
}

std::string to_text(const Snapshot& snapshot) {
  return Json{{"pool", snapshot.pool_id},
              {"etag", snapshot.etag},
              {"again", Json::parse(snapshot.again)},
              {"stand_in", Json::parse(snapshot.stand_in)}}
             .dump(2) +
         "\n";
}

Result<Snapshot> read_snapshot(std::string_view json, const Target& target) {
  const auto bad = [](std::string why) { return gateway_error(ErrorKind::BadInput, std::move(why)); };
  const Json read = Json::parse(json, nullptr, false);
  const bool complete = read.is_object() && read.contains("pool") && read["pool"].is_string() && read.contains("etag") &&
                        read["etag"].is_string() && read.contains("again") && read["again"].is_object() &&
                        read.contains("stand_in") && read["stand_in"].is_object();
  if (!complete) return bad("the snapshot is damaged: it needs pool, etag, again and stand_in");
  Snapshot snapshot{read["pool"], read["etag"], read["again"].dump(), read["stand_in"].dump()};
  if (!equal_ignoring_case(snapshot.pool_id, target.pool_id())) {
    return bad(fmt::format("the snapshot is of {}, not of {}", snapshot.pool_id, target.pool_id()));
  }
  for (const char* name : {"again", "stand_in"}) {
    const Json& body = read[name];
    if (!body.contains("properties") || !body["properties"].is_object() || body["properties"].empty())
      return bad(fmt::format("the snapshot is damaged: \"{}\" has no properties, so no pool can be made from it", name));
  }
  return snapshot;
}

std::string to_line(const Event& event) {
  Json line{{"at", utc_text(event.at)}, {"event", name_in(kKindNames, event.kind)}, {"phase", to_text(event.phase)}};
  if (!event.text.empty()) line["text"] = event.text;
  if (!event.pool.empty()) line["pool"] = event.pool;
  if (!event.api_version.empty()) line["api_version"] = event.api_version;
  if (event.kind == Event::Kind::Answer) line["status"] = event.status;
  if (event.kind == Event::Kind::Access) {
    line["kubeconfig"] = event.access.kubeconfig;
    line["drain"] = event.access.drains;
    line["drain_ms"] = whole_milliseconds(event.access.drain);
  }
  return dump_json(line, kOneLine, JsonLetters::AsTheyAre) + "\n";
}

std::optional<Event> read_event(std::string_view line) {
  const Json read = Json::parse(line, nullptr, false);
  if (!read.is_object()) return std::nullopt;
  const auto text = [&](const char* name) {
    const auto found = read.find(name);
    return found != read.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto kind = value_in(kKindNames, text("event"));
  const auto phase = value_in(kPhaseNames, text("phase"));
  const auto at = parse_utc(text("at"));
  if (!kind || !phase || !at) return std::nullopt;
  const auto status = read.find("status");
  NodeAccess access{.kubeconfig = text("kubeconfig")};
  if (const auto drains = read.find("drain"); drains != read.end() && drains->is_boolean()) access.drains = *drains;
  if (const auto most = read.find("drain_ms"); most != read.end() && most->is_number_integer())
    access.drain = std::chrono::milliseconds(most->get<int64_t>());
  return Event{*kind,
               *at,
               *phase,
               text("text"),
               text("pool"),
               status != read.end() && status->is_number() ? status->get<int>() : 0,
               text("api_version"),
               std::move(access)};
}

void apply(const Event& event, Progress& progress) {
  const auto index = static_cast<size_t>(event.phase);
  progress.end.reset();
  switch (event.kind) {
    case Event::Kind::Begin:
      progress.begun = event.at;
      progress.target.cluster = event.text;
      progress.target.pool = event.pool;
      if (!event.api_version.empty()) progress.target.api_version = event.api_version;
      break;
    case Event::Kind::Access: progress.access = event.access; break;
    case Event::Kind::Taken: progress.snapshot_file = event.text; break;
    case Event::Kind::Intend: apply_intent(event.phase, progress); break;
    case Event::Kind::Answer: apply_answer(event.status, progress.sent[index]); break;
    case Event::Kind::Done:
      progress.done[index] = true;
      progress.sent[index].status = 0;  // asked again, it decides anew
      break;
    case Event::Kind::Stopped:
      // The process that takes the run up decides anew: an earlier answer says nothing any more.
      for (Progress::Sent& sent : progress.sent) sent.status = sent.times_taken = 0;
      progress.end = event;
      break;
    case Event::Kind::Finished:
    case Event::Kind::Recovered:
    case Event::Kind::Undone: progress.end = event; break;
  }
}

}  // namespace armgate::heal
