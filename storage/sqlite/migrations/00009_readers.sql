-- +goose Up

-- Who may see an approval, from when on: who asked, and who may decide, all by each of their accounts. open: it is, too.
create table readers (
  account  text    not null,
  open     integer not null,
  approval integer not null references approvals (seq) on delete cascade,
  since    integer not null,
  primary key (account, open, approval)
) strict, without rowid;
create index readers_approval on readers (approval);

-- The latest decided approvals, and the posts whose last attempt failed.
create index approvals_closed on approvals (seq) where state <> 'open';
create index outbox_held      on outbox (seq) where state = 'waiting' and cause <> '';

-- An approval whose body can't be read has none.
insert into readers (account, open, approval, since)
with sound as (
  select seq, state, requester, created_at, body from approvals where json_valid(body)
), named as (
  select seq, requester as account, 0 as since from sound
  union all
  select seq, a.value, 0 from sound, json_each(body, '$.rule.approvers') a where a.type = 'text'
  union all
  select seq, a.value, created_at + json_extract(body, '$.rule.escalate.after')
  from sound, json_each(body, '$.rule.escalate.to') a
  where a.type = 'text' and json_extract(body, '$.rule.escalate.after') > 0
), people as (
  select seq, p.key as account, p.value as person from sound, json_each(body, '$.rule.people') p where p.type = 'text'
), persons as (
  select n.seq, n.since, coalesce(p.person, n.account) as person
  from named n left join people p on p.seq = n.seq and p.account = n.account
), accounts as (
  select seq, account, since from named
  union all
  select seq, person, since from persons
  union all
  select p.seq, p.account, o.since from persons o join people p on p.seq = o.seq and p.person = o.person
)
select account, state = 'open', seq, min(since) from accounts join sound using (seq) group by account, state, seq;

insert into fingerprints (version, fingerprint) values
(9, 'approvals:6762aca8 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f5bf1cd event_blobs:a252f98a events:d144a391 evidence:33b3d9ff fingerprints:d440c682 intents:feefbe9c kv:eefa7df6 leases:61eb1509 mail:a700ec97 mailboxes:3092c438 message_blobs:e634b7f0 messages:dbb691a9 notes:09d13105 outbox:96a0e0c7 owners:6b913a23 paused:f4ae4327 queues:11489644 rate_tokens:2803a66c readers:41d7a197 sessions:115141d0 tasks:7bc37f25 votes:68b1b87c');
