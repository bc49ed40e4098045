// Who still builds on what was there before the resource was deleted and made anew with the ETag of before (Compute counts from the
// start).
#include <gtest/gtest.h>

#include "proxy/policy/bases.h"
#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

// A reads it, this client deletes it, and A reads what was made anew.
Told told_of_both_lives(char remover) {
  Told told;
  told.show('A', "1");
  told.remove(remover);
  told.show('A', "1", whole("anew"));
  told.facts.body_etag = "1";
  return told;
}

TEST(BasesGone, AnETagThatCountsAnewIsThatOfTheNewLifeToTheClientThatDeletedIt) {
  Told told = told_of_both_lives('A');
  EXPECT_EQ(told.bases_text('A'), "body-etag 1");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "body-etag 1 gone");
}

TEST(BasesGone, OneActorGoesOnFromWhatItHasReadLast) {
  EXPECT_EQ(told_of_both_lives('B').bases_text('A', Actors::Single), "body-etag 1");
  Told told;
  told.show('A', "1");
  told.remove('B');
  told.facts.body_etag = "1";
  EXPECT_EQ(told.bases_text('A', Actors::Single), "body-etag gone") << "it was shown nothing of the new one";
}

TEST(BasesGone, OfSeveralBehindANameOneMayNotHaveReadIt) {
  Told told = told_of_both_lives('B');
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "body-etag 1 gone");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "body-etag 1 gone");
}

}  // namespace
}  // namespace armgate::policy
