// schema.h – the tables of a cluster in PostgreSQL, and the one function by which a replica tells something.
//
// Invariant  rows of the log become visible in the order of their numbers: whoever adds one holds the row of `head` until its
//            commit, the wait for the standby included.
#pragma once

namespace armgate::cluster {

inline constexpr int kSchemaVersion = 5;

// What append() raises for a replica that the others took for dead.
inline constexpr const char* kDeadState = "AG001";

// Each version's change, from none to kSchemaVersion; a cluster of an earlier one gets those that it lacks.
inline constexpr const char* kSchemaSteps[] = {R"sql(
create schema armgate;
create table armgate.meta (
  one boolean primary key default true check (one),
  version int not null,
  fingerprint text not null,                     -- of the key file; tells nothing of the key
  lease interval not null,                       -- how long a replica lives without a word
  created timestamptz not null default clock_timestamp(),
  known_from timestamptz not null default clock_timestamp()  -- older rows of the log were deleted
);
create table armgate.head (
  one boolean primary key default true check (one),
  number bigint not null,                        -- of the newest row of the log
  at timestamptz not null                        -- never goes back
) with (fillfactor = 10);
insert into armgate.head(number, at) values (0, clock_timestamp());
create table armgate.replica (
  id int generated always as identity primary key,
  name text not null,
  program text not null,
  began timestamptz not null default clock_timestamp(),
  alive_until timestamptz not null,
  dead boolean not null default false,
  clean boolean not null default false           -- it left by itself
) with (fillfactor = 50);
create table armgate.log (
  number bigint primary key,
  at timestamptz not null,
  replica int not null,
  batch bigint not null,                         -- its own number
  dead int[] not null,                           -- who was found dead
  reads_missing boolean not null,
  events bytea not null,                         -- sealed with the replicas' key
  unique (replica, batch)
);
alter table armgate.log alter column events set storage external;

create function armgate.append(p_replica int, p_batch bigint, p_events bytea, p_seen bigint, p_missing boolean)
returns table (number bigint, at bigint, replica int, batch bigint, dead int[], reads_missing boolean, events bytea)
language plpgsql as $$
#variable_conflict use_column
declare
  l_head armgate.head;
  l_lease interval;
  l_now timestamptz;
  l_dead int[];
  l_is_new boolean;
begin
  select * into l_head from armgate.head for update;
  select lease into l_lease from armgate.meta;
  l_now := greatest(clock_timestamp(), l_head.at);
  -- While nobody could tell anything, nobody's silence means anything.
  if l_now - l_head.at > l_lease / 2 then
    update armgate.replica r set alive_until = l_now + l_lease where not r.dead and not r.clean;
  end if;
  with found_dead as (
    update armgate.replica r set dead = true where not r.dead and r.alive_until < l_now and r.id <> p_replica returning r.id)
  select array_agg(f.id order by f.id) into l_dead from found_dead f;
  update armgate.replica r set alive_until = l_now + l_lease where r.id = p_replica and not r.dead;
  if not found then
    raise exception 'this replica was silent for too long, and others have taken over what it did' using errcode = 'AG001';
  end if;
  l_is_new := p_events is not null
    and not exists (select from armgate.log g where g.replica = p_replica and g.batch = p_batch);
  if l_is_new or l_dead is not null then
    l_head.number := l_head.number + 1;
    insert into armgate.log values (l_head.number, l_now, p_replica, case when l_is_new then p_batch else -l_head.number end,
      coalesce(l_dead, '{}'), l_is_new and p_missing, case when l_is_new then p_events else '' end);
    perform pg_notify('armgate', '');
  end if;
  update armgate.head set number = l_head.number, at = l_now;
  return query select g.number, (extract(epoch from g.at) * 1000000)::bigint, g.replica, g.batch, g.dead, g.reads_missing,
      case when g.replica = p_replica and g.batch = p_batch then ''::bytea else g.events end  -- it knows what it told
    from armgate.log g where g.number > p_seen order by g.number;
end $$;
)sql",
                                               R"sql(
alter table armgate.meta add hash_key bytea;     -- sealed; null: the key file's own. Of the journal that was imported
create table armgate.import (
  journal text primary key,                      -- a hash of its key
  at timestamptz not null default clock_timestamp(),
  open_writes int not null,
  ended_writes int not null
);
)sql",
                                               R"sql(
-- No table is another: bodies may be told by their hashes, and replicas of version 2 cannot read such rows. They end by themselves.
)sql",
                                               R"sql(
alter table armgate.replica add column if not exists configured text not null default '';  -- as far as all must be alike
)sql",
                                               R"sql(
create table armgate.rules (
  hash text primary key,
  document bytea not null,                       -- sealed
  used timestamptz not null default clock_timestamp()
);
alter table armgate.replica add column if not exists rules text[] not null default '{}';  -- hashes of those that it goes by
)sql"};

// Each append first waits for an advisory lock, whose queue is served in order. PostgreSQL wakes the waiters of the row of
// `head` in any order, and where commits are slow some of them would wait for longer than a lease. The lock is certain to be
// taken first, because its result is an argument of armgate.append().
//
// Gives the first rows after $4, and in each (at least one) the number of the newest there is; the rest is for kReadRows. Both
// locks are held until the commit, which comes after the answer is written: were it longer than what PostgreSQL keeps before it
// sends (8 KiB), a replica that reads nothing (stopped, or cut off) would keep the engine's process at that, and with it
// everybody.
inline constexpr const char* kAppend =
    "with waited as materialized (select length(pg_advisory_xact_lock(27428886952375397)::text) as nothing), "
    "told as materialized (select a.*, sum(200 + octet_length(a.dead::text) + 2 * octet_length(a.events)) over (order by a.number) as upto "
    "from waited, lateral armgate.append($1, $2, $3, $4::bigint + waited.nothing, $5) a) "
    "select t.number, t.at, t.replica, t.batch, t.dead, t.reads_missing, t.events, newest.number "
    "from (select max(number) as number from told) newest left join told t on t.upto <= 7000 order by t.number";
inline constexpr int kNewestColumn = 7;

// Rows before $1 that are older than $2 seconds, the oldest $3 of them or $4 bytes, by one replica at a time; gives whether
// there may be more of them. None while somebody who starts is at them.
inline constexpr const char* kDeleteRows =
    "with mine as materialized (select pg_try_advisory_xact_lock(27428886952375398) as is_mine), "
    "first as (select number, octet_length(events) as bytes from armgate.log "
    "where (select is_mine from mine) and number < $1 order by number limit $3), "
    "summed as (select number, sum(bytes) over (order by number) - bytes as before from first), "
    "oldest as materialized (select number from summed where before < $4), "
    "gone as (delete from armgate.log g using oldest where g.number = oldest.number "
    "and g.at < clock_timestamp() - make_interval(secs => $2) returning g.at), "
    "kept as (update armgate.meta set known_from = greatest(known_from, (select max(at) from gone)) where exists (select from gone)) "
    "select count(*) > 0 and count(*) = (select count(*) from oldest) from gone";

// A name and a version; gives the id. The engine's clock may have gone back; append() goes on from where it was, and would find
// a replica dead whose lease ends before that.
inline constexpr const char* kAddReplica =
    "insert into armgate.replica(name, program, alive_until) select $1, $2, greatest(clock_timestamp(), h.at) + m.lease "
    "from armgate.meta m, armgate.head h returning id";

inline constexpr const char* kKeepRows = "select pg_advisory_lock_shared(27428886952375398)";
inline constexpr const char* kLetRowsGo = "select pg_advisory_unlock_shared(27428886952375398)";

// The first rows after $1, at most $2 of them or $3 bytes (one may have more), and in each the number of the newest there is.
inline constexpr const char* kReadRows =
    "select number, (extract(epoch from at) * 1000000)::bigint, replica, batch, dead, reads_missing, events, (select number from armgate.head) "
    "from (select g.*, sum(octet_length(events)) over (order by number) - octet_length(events) as before "
    "from (select * from armgate.log where number > $1 order by number limit $2) g) summed where before < $3 order by summed.number";

}  // namespace armgate::cluster
