// What is decided from a request's head and an answer's bytes, without tables and without I/O.
#include <absl/synchronization/mutex.h>
#include <fmt/format.h>
#include <zlib.h>

#include <memory>

#include "arm/body/difference.h"
#include "arm/etag.h"
#include "arm/identity.h"
#include "arm/resource_id.h"
#include "base/fingerprint.h"
#include "bench/counted.h"
#include "bench/samples.h"
#include "bench/shipped.h"
#include "certs/leaf.h"
#include "proxy/http/compose.h"
#include "proxy/http/head_parser.h"
#include "proxy/policy/backoff.h"
#include "proxy/policy/bases.h"
#include "proxy/policy/error_class.h"
#include "proxy/request/content_coding.h"
#include "proxy/seams/real_clock.h"
#include "rules/facts/fact_table.h"
#include "rules/facts/imported_facts.h"
#include "rules/plan.h"

namespace armgate::bench {
namespace {

void parse_resource_id(benchmark::State& state) {
  const AllocationCounter counter;
  for (auto _ : state) benchmark::DoNotOptimize(arm::parse_target(kNetwork, false));
  counter.report(state);
}
BENCHMARK(parse_resource_id);

void match_rules(benchmark::State& state) {
  std::vector<rules::Rule> rules;
  for (int64_t i = 0; i < state.range(0); ++i) {
    rules::Rule rule;
    rule.name = "rule-" + std::to_string(i);
    rule.match.types = {i + 1 < state.range(0) ? "microsoft.other/type" + std::to_string(i)
                                               : "microsoft.network/virtualnetworks"};
    rule.guard.kind = rules::GuardKind::Etag;
    rules.push_back(std::move(rule));
  }
  const rules::Ruleset ruleset(std::move(rules));
  const AllocationCounter counter;
  for (auto _ : state) benchmark::DoNotOptimize(rules::make_plan(ruleset, rules::Mode::Protect, arm::Method::Put, kNetwork));
  counter.report(state);
}
BENCHMARK(match_rules)->Arg(10)->Arg(200)->Arg(5000);

// As many types as public schemas describe, each with a few members.
std::string imported_types(int64_t count) {
  std::vector<rules::ImportedType> types;
  for (int64_t i = 0; i < count; ++i) {
    rules::ImportedType type{fmt::format("Microsoft.Other{}/widgets{}", i % 250, i), "2015-01-01", "2026-01-01", {}};
    for (int member = 0; member < 6; ++member) {
      type.body.read_only.push_back(fmt::format("/properties/parts/*/properties/part{}/writtenByTheService", member));
    }
    types.push_back(std::move(type));
  }
  return rules::to_imported_text(types);
}

// Of a type with facts of several api-versions, among those of a file of `range(0)` imported types.
void look_up_type_facts(benchmark::State& state) {
  rules::FaultList faults;
  auto entries = shipped("facts-network.json").facts;
  for (auto& one : rules::read_imported_facts("imported.json", imported_types(state.range(0)), faults))
    entries.push_back(std::move(one));
  const rules::FactTable table(rules::share(std::move(entries)));
  const AllocationCounter counter;
  for (auto _ : state) {
    const auto& facts = table.find("microsoft.network/virtualnetworks", "2024-05-01", nullptr);
    if (!facts.known()) state.SkipWithError("the type is not known");
    benchmark::DoNotOptimize(facts);
  }
  counter.report(state);
}
BENCHMARK(look_up_type_facts)->Arg(0)->Arg(2'535);

void load_imported_types(benchmark::State& state) {
  const std::string text = imported_types(state.range(0));
  const AllocationCounter counter;
  for (auto _ : state) {
    rules::FaultList faults;
    const rules::FactTable table(rules::share(rules::read_imported_facts("imported.json", text, faults)));
    if (!faults.empty()) state.SkipWithError("the file has faults");
    benchmark::DoNotOptimize(table.entries().size());
  }
  counter.report(state);
}
BENCHMARK(load_imported_types)->Arg(2'535)->Unit(benchmark::kMillisecond);

void read_claims_of_2kb_token(benchmark::State& state) {
  const std::string authorization = token();
  if (!arm::claims_of(authorization)) state.SkipWithError("the sample token cannot be read");
  const AllocationCounter counter;
  for (auto _ : state) benchmark::DoNotOptimize(arm::claims_of(authorization));
  counter.report(state);
}
BENCHMARK(read_claims_of_2kb_token);

void hash_2kb_token(benchmark::State& state) {
  const std::string authorization = token();
  const Hasher hasher(HashKey{1, 2});
  for (auto _ : state) benchmark::DoNotOptimize(hasher.hash(authorization));
}
BENCHMARK(hash_2kb_token);

void tell_whether_2kb_token_is_the_last_one(benchmark::State& state) {
  const std::string authorization = token();
  const Fingerprinter fingerprints(Hasher(HashKey{1, 2}));
  for (auto _ : state) benchmark::DoNotOptimize(fingerprints.of(authorization));
}
BENCHMARK(tell_whether_2kb_token_is_the_last_one);

void scan_etag_plain(benchmark::State& state) {
  const std::string body = network_body(static_cast<size_t>(state.range(0)));
  const AllocationCounter counter;
  for (auto _ : state) benchmark::DoNotOptimize(arm::etag_in_body(body));
  counter.report(state);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(scan_etag_plain)->Arg(1500)->Arg(100'000)->Arg(4'000'000);

// Read as an answer of ARM's, and composed again for the client.
void pass_head_on(benchmark::State& state) {
  const std::string head =
      "HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\nPragma: no-cache\r\nContent-Type: application/json; charset=utf-8\r\n"
      "Content-Length: 1500\r\nExpires: -1\r\nETag: W/\"00000000-0000-0000-0000-000000000000\"\r\n"
      "x-ms-request-id: 11111111-2222-3333-4444-555555555555\r\n"
      "x-ms-correlation-request-id: 11111111-2222-3333-4444-555555555555\r\n"
      "x-ms-routing-request-id: WESTEUROPE:20240101T000000Z:11111111-2222-3333-4444-555555555555\r\n"
      "x-ms-arm-service-request-id: 11111111-2222-3333-4444-555555555555\r\n"
      "x-ms-ratelimit-remaining-subscription-reads: 11999\r\n"
      "x-ms-ratelimit-remaining-subscription-global-reads: 16499\r\n"
      "Strict-Transport-Security: max-age=31536000; includeSubDomains\r\nX-Content-Type-Options: nosniff\r\n"
      "X-Cache: CONFIG_NOCACHE\r\n"
      "X-MSEdge-Ref: Ref A: 0123456789ABCDEF Ref B: AMS231020512 Ref C: 2024-01-01T00:00:00Z\r\n"
      "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n";
  std::string out;
  const AllocationCounter counter;
  for (auto _ : state) {
    const auto parsed = http::parse_response_head(head, {}, arm::Method::Get);
    out.clear();
    benchmark::DoNotOptimize(
        http::compose_response(out, parsed->head, {BodyLength::Kind::Known, 1500}, http::Connection::Keep, 1));
  }
  counter.report(state);
}
BENCHMARK(pass_head_on);

std::string gzipped(std::string text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = static_cast<Bytef*>(static_cast<void*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = static_cast<Bytef*>(static_cast<void*>(out.data()));
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void scan_etag_gzip(benchmark::State& state) {
  arm::ResponseHead head;
  head.fields = {{"Content-Encoding", "gzip"}};
  const std::string body = gzipped(network_body(static_cast<size_t>(state.range(0))));
  const AllocationCounter counter;
  for (auto _ : state) {
    const auto plain = plain_content(head, body, 8u << 20);
    benchmark::DoNotOptimize(arm::etag_in_body(plain->text()));
  }
  counter.report(state);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(scan_etag_gzip)->Arg(1500)->Arg(100'000)->Arg(4'000'000);

void classify_error_and_decide_delay(benchmark::State& state) {
  arm::ResponseHead head;
  head.status = 409;
  head.fields = {{"Retry-After", "5"}, {"Content-Type", "application/json"}};
  const std::string body =
      R"({"error":{"code":"ConflictingConcurrentWriteNotAllowed","message":"Another operation is in progress on the resource.","details":[]}})";
  const rules::ErrorTable table(shipped("errors.json").errors);
  const rules::Backoff backoff;
  Rng rng(1);
  const AllocationCounter counter;
  for (auto _ : state) {
    const auto facts = policy::classify_error(table, head, body, rules::OwnPrecondition::Absent, WallTime{});
    benchmark::DoNotOptimize(policy::next_delay(backoff, 2, Duration(1'000'000), facts.come_back, rng));
  }
  counter.report(state);
}
BENCHMARK(classify_error_and_decide_delay);

// What a write leads to: `range(0)` bodies of 4 KB, of which each has a subnet and a tag that no other has.
void reconcile_bodies_of_4kb(benchmark::State& state) {
  std::vector<std::string> texts;
  for (int64_t i = 0; i < state.range(0); ++i) {
    std::string body = R"({"name":"hub-network","etag":"W/\")" + std::to_string(i) +
                       R"(\"","location":"westeurope","tags":{"team":"net","t)" + std::to_string(i) +
                       R"(":"1"},"properties":{"provisioningState":"Succeeded","subnets":[)";
    for (size_t subnet = static_cast<size_t>(i); body.size() < 3'900; ++subnet) {
      body += R"({"name":"subnet-)" + std::to_string(subnet) +
              R"(","properties":{"addressPrefix":"10.0.0.0/24","delegations":[]}},)";
    }
    body.back() = ']';
    texts.push_back(body + "}}");
  }
  std::vector<arm::ComparedBody> bodies;
  bodies.reserve(texts.size());
  for (const auto& text : texts) bodies.push_back({text});
  const rules::FactTable table(rules::share(shipped("facts-network.json").facts));
  const auto& facts = table.find("microsoft.network/virtualnetworks", "2024-05-01", nullptr).body;
  const size_t last = bodies.size() - 1;
  const AllocationCounter counter;
  for (auto _ : state) {
    const arm::Difference difference(bodies, *facts);
    if (difference.reconcile(0, last, last).resolution != arm::Resolution::Contained)
      state.SkipWithError("both changed the same");
  }
  counter.report(state);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(texts.size() * texts[0].size()));
}
BENCHMARK(reconcile_bodies_of_4kb)->Arg(2)->Arg(8);

// A client that has been shown `range(0)` states of the resource.
void possible_bases(benchmark::State& state) {
  const policy::HistoryLimits limits;
  policy::History history;
  for (int64_t i = 0; i < state.range(0); ++i) {
    policy::StateShown seen;
    seen.etag = "W/\"" + std::to_string(i) + "\"";
    seen.rendering.api_version = "2023-09-01";
    seen.asked = static_cast<uint64_t>(2 * i + 1);
    seen.at = Moment{seen.asked + 1, TimePoint(std::chrono::seconds(i))};
    history.apply(limits, std::move(seen));
  }
  policy::WriteFacts facts;
  facts.arrived = Moment{1000, TimePoint(std::chrono::seconds(100))};
  facts.api_version = "2023-09-01";
  const AllocationCounter counter;
  for (auto _ : state) benchmark::DoNotOptimize(policy::possible_bases(history, limits, facts));
  counter.report(state);
}
BENCHMARK(possible_bases)->Arg(1)->Arg(8)->Arg(64);

void mint_leaf(benchmark::State& state) {
  const WallTime now = RealClock().wall();
  auto authority = certs::make_authority({"*.management.azure.com"}, now);
  if (!authority) return state.SkipWithError(authority.error().context.c_str());
  const auto minter = certs::LeafMinter::make(*std::move(authority));
  const AllocationCounter counter;
  for (auto _ : state) {
    if (!minter->mint("westeurope.management.azure.com", now)) state.SkipWithError("nothing was minted");
  }
  counter.report(state);
}
BENCHMARK(mint_leaf)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace armgate::bench

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as in the gateway
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
