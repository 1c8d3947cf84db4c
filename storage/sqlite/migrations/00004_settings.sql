-- +goose Up

-- Who holds a name, and until when.
create table holds (
  name        text    not null primary key,
  owner       text    not null,
  lease_until integer not null
) strict, without rowid;
create index holds_until on holds (lease_until);

-- What was spent: each use of a name, and when it no longer counts.
create table uses (
  seq  integer primary key,
  name text    not null,
  at   integer not null,
  ends integer not null
) strict;
create index uses_name on uses (name, at);
create index uses_ends on uses (ends);
