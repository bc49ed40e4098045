// Who still builds on what was there before the resource was deleted and made anew with the ETag of before (Compute counts from the
// start).
#include <gtest/gtest.h>

#include "proxy/policy/bases.h"
#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

TEST(BasesGone, OneActorGoesOnFromWhatItHasReadLast) {
  Told told;
  told.show('A', "1");
  told.remove('B');
  told.facts.body_etag = "1";
  EXPECT_EQ(told.bases_text('A', Actors::Single), "body-etag gone") << "it was shown nothing of the new one";
  told.show('A', "1", whole("anew"));
  EXPECT_EQ(told.bases_text('A', Actors::Single), "body-etag 1");
}

TEST(BasesGone, OfSeveralBehindANameOneMayNotHaveReadIt) {
  Told told;
  told.show('A', "1");
  told.remove('B');
  told.show('A', "1", whole("anew"));
  told.facts.body_etag = "1";
  EXPECT_EQ(told.bases_text('A', Actors::Unknown), "body-etag 1 gone");
  EXPECT_EQ(told.bases_text('A', Actors::Many), "body-etag 1 gone");
}

}  // namespace
}  // namespace armgate::policy
