// Whether an answer shows what is known already: by its bytes at the same api-version, else by its ETag (docs/design.md,
// "Three records").
#include "proxy/policy/entry_match.h"

#include <gtest/gtest.h>

#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

Entry entry_of(std::string etag, SharedBody body, std::string api_version = "v1") {
  Entry entry;
  entry.etag = std::move(etag);
  entry.renderings.push_back({std::move(api_version), std::move(body)});
  return entry;
}

StateShown answer_of(std::string etag, SharedBody body, std::string api_version = "v1") {
  StateShown seen;
  seen.etag = std::move(etag);
  seen.rendering = {std::move(api_version), std::move(body)};
  return seen;
}

TEST(EntryMatch, BytesTellAtOneVersionAndETagsAcrossThem) {
  const Entry entry = entry_of("1", whole("12"));
  EXPECT_TRUE(is_shown_by(entry, answer_of("1", whole("12"))));
  EXPECT_FALSE(is_shown_by(entry, answer_of("1", whole("13")))) << "an AKS cluster keeps its ETag while its pools change";
  EXPECT_TRUE(is_other_than(entry, answer_of("1", whole("13"))));
  EXPECT_FALSE(is_shown_by(entry, answer_of("2", whole("12")))) << "content comes back, its state does not";
  EXPECT_TRUE(is_shown_by(entry, answer_of("1", whole("13"), "v2")));
  EXPECT_FALSE(is_other_than(entry, answer_of("1", whole("13"), "v2")));
  EXPECT_TRUE(is_shown_by(entry, answer_of("1", partial("1")))) << "a list shows fewer members";
}

TEST(EntryMatch, WithoutETagsOnlyBytesTell) {
  const Entry entry = entry_of("", whole("12"));
  EXPECT_TRUE(is_shown_by(entry, answer_of("", whole("12"))));
  EXPECT_FALSE(is_shown_by(entry, answer_of("", whole("12"), "v2")));
  EXPECT_FALSE(is_shown_by(entry, answer_of("", nullptr)));
  EXPECT_FALSE(is_other_than(entry, answer_of("", whole("12"), "v2")));
}

TEST(EntryMatch, AbsenceIsAbsence) {
  Entry gone;
  gone.absent = true;
  StateShown missing;
  missing.absent = true;
  EXPECT_TRUE(is_shown_by(gone, missing));
  EXPECT_FALSE(is_shown_by(gone, answer_of("1", whole("1"))));
  EXPECT_TRUE(is_other_than(gone, answer_of("1", whole("1"))));
  EXPECT_TRUE(is_other_than(entry_of("1", whole("1")), missing));
}

TEST(EntryMatch, AStateThatHasAllOfAWriteIsWhatItAskedFor) {
  Entry write;
  EXPECT_FALSE(is_what_was_asked_for(write, answer_of("", whole(R"({"n":1})")), *arm::BodyFacts::generic()))
      << "its body was not kept";
  write.requested_body = whole(R"({"n":1})");
  EXPECT_TRUE(is_what_was_asked_for(write, answer_of("", whole(R"({"n":1,"filled":"in"})")), *arm::BodyFacts::generic()));
  EXPECT_FALSE(is_what_was_asked_for(write, answer_of("", whole(R"({"n":2})")), *arm::BodyFacts::generic()));
  EXPECT_TRUE(is_what_was_asked_for(write, answer_of("", partial(R"({"n":1})")), *arm::BodyFacts::generic()));
  EXPECT_FALSE(is_what_was_asked_for(write, answer_of("", partial("{}")), *arm::BodyFacts::generic())) << "it may be shorter";
  EXPECT_FALSE(is_what_was_asked_for(write, answer_of("", nullptr), *arm::BodyFacts::generic()));
}

TEST(EntryMatch, SoAReadOfItDoesNotLagThoughItWasThereBefore) {
  Told told;
  told.show('A', "", whole(R"({"n":1})"));
  told.accept('A', R"({"n":2})");
  told.end(R"({"n":2})");
  told.show('A', "", whole(R"({"n":2})"));
  told.accept('A', R"({"n":1})");
  told.end(R"({"n":1})");
  told.show('A', "", whole(R"({"n":1})"));
  EXPECT_FALSE(told.client('A').shown.back().lagging);
  told.show('A', "", whole(R"({"n":2})"));
  EXPECT_TRUE(told.client('A').shown.back().lagging);
}

// The service derives one member from another; a client that writes back what it read repeats the former value of it.
TEST(EntryMatch, NorIfWhatItLacksTheServiceDecidesOnItself) {
  Told told;
  told.show('A', "", whole(R"({"on":1,"is":"on"})"));
  told.accept('A', R"({"on":0,"is":"on"})");
  told.end(R"({"on":0,"is":"on"})");
  told.show('A', "", whole(R"({"on":0,"is":"off"})"));
  told.accept('A', R"({"on":1,"is":"off"})");
  told.end(R"({"on":1,"is":"off"})");
  told.show('A', "", whole(R"({"on":1,"is":"on"})"));
  EXPECT_FALSE(told.client('A').shown.back().lagging);
  told.show('A', "", whole(R"({"on":0,"is":"off"})"));
  EXPECT_TRUE(told.client('A').shown.back().lagging) << "it lacks what was changed";
  Told two;
  two.show('A', "", whole(R"({"a":0,"b":0})"));
  two.accept('A', R"({"a":1,"b":1})");
  two.end(R"({"a":1,"b":1})");
  two.show('A', "", whole(R"({"a":1,"b":1})"));
  two.accept('A', R"({"a":0,"b":1})");
  two.end(R"({"a":0,"b":1})");
  two.show('A', "", whole(R"({"a":0,"b":0})"));
  EXPECT_TRUE(two.client('A').shown.back().lagging) << "the service had taken b";
}

}  // namespace
}  // namespace armgate::policy
