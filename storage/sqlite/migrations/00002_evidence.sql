-- +goose Up

-- What an invocation did, as a join check's input; the last leg's stands.
create table evidence (
  invocation text    not null primary key,
  session    text    not null,
  body       text    not null,
  at         integer not null
) strict, without rowid;
create index evidence_session on evidence (session);
create index evidence_at      on evidence (at);
