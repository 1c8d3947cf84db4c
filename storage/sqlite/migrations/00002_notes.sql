-- +goose Up

-- The table of the demo's note tool.
create table notes (
  seq   integer primary key autoincrement,
  owner text not null,
  text  text not null
) strict;
create index notes_owner on notes (owner, seq);
