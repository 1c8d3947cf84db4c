-- +goose Up

-- Who may see an approval, from when on: who asked, and who may decide, all by each of their accounts. open: it is, too.
create table readers (
  account  text    not null,
  open     boolean not null,
  approval bigint  not null references approvals (seq) on delete cascade,
  since    bigint  not null,
  primary key (account, open, approval)
);
create index readers_approval on readers (approval);

-- The latest decided approvals, and the posts whose last attempt failed.
create index approvals_closed on approvals (seq) where state <> 'open';
create index outbox_held      on outbox (seq) where state = 'waiting' and cause <> '';

-- An approval whose body can't be read has none.
-- +goose StatementBegin
do $$
declare
  a record;
  r json;
begin
  for a in select seq, state, requester, created_at, body from approvals loop
    begin
      r := a.body::json -> 'rule';
      insert into readers (account, open, approval, since)
      with named as (
        select a.requester as account, 0::bigint as since
        union all
        select n, 0 from json_array_elements_text(
          case when json_typeof(r -> 'approvers') = 'array' then r -> 'approvers' else '[]' end) n
        union all
        select n, a.created_at + (r -> 'escalate' ->> 'after')::bigint from json_array_elements_text(
          case when json_typeof(r -> 'escalate' -> 'to') = 'array' then r -> 'escalate' -> 'to' else '[]' end) n
        where (r -> 'escalate' ->> 'after')::bigint > 0
      ), people as (
        select key as account, value as person
        from json_each_text(case when json_typeof(r -> 'people') = 'object' then r -> 'people' else '{}' end)
      ), persons as (
        select n.since, coalesce(p.person, n.account) as person from named n left join people p using (account)
      ), accounts as (
        select account, since from named
        union all
        select person, since from persons
        union all
        select p.account, o.since from persons o join people p using (person)
      )
      select account, a.state = 'open', a.seq, min(since) from accounts group by account;
    exception when others then
      null;
    end;
  end loop;
end $$;
-- +goose StatementEnd

insert into fingerprints (version, fingerprint) values
(9, 'approvals:cd6febbb audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:a8f7f2f9 event_blobs:12db69f6 events:7e4faba6 evidence:a9b6ba97 fingerprints:363015e0 intents:c3284186 kv:a0730994 leases:1d42bd99 mail:ed1707e0 mailboxes:d216c4e3 message_blobs:410f5841 messages:ed9b2a9f notes:6e3c2562 outbox:27cba970 owners:056f723d paused:736c16ae queues:18f01d57 rate_limits:596c772e rate_tokens:73784df4 readers:a99cdad6 sessions:639439ca tasks:52354fe4 votes:4a86fc07');
