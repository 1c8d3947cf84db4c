-- +goose Up

-- While an approval is open: whether it waits for the decision of this account, which may decide and has no vote that stands.
alter table readers add column waits integer not null default 0;

-- Not for who asked, by any of their accounts, unless the rule lets them decide; nor for who has voted since the last change of the arguments.
update readers set waits = 1
where open = 1
  and exists (
    select 1 from approvals a where a.seq = readers.approval and json_valid(a.body) and (
      (readers.account <> a.requester
        and coalesce((select p.value from json_each(a.body, '$.rule.people') p where p.key = readers.account), readers.account)
          <> coalesce((select p.value from json_each(a.body, '$.rule.people') p where p.key = a.requester), a.requester))
      or json_extract(a.body, '$.rule.self')
        and exists (select 1 from json_each(a.body, '$.rule.approvers') r where r.value = readers.account
          or r.value = 'local' and json_extract(a.body, '$.requester.local')))
    and not exists (
      select 1 from votes v where v.approval = a.id and v.actor = readers.account
        and v.n > coalesce((select max(e.n) from votes e where e.approval = a.id and case when json_valid(e.body) then json_extract(e.body, '$.choice') end = 'edit'), -1)));

insert into fingerprints (version, fingerprint) values
(10, 'approvals:6762aca8 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f5bf1cd event_blobs:a252f98a events:d144a391 evidence:33b3d9ff fingerprints:d440c682 intents:feefbe9c kv:eefa7df6 leases:61eb1509 mail:a700ec97 mailboxes:3092c438 message_blobs:e634b7f0 messages:dbb691a9 notes:09d13105 outbox:96a0e0c7 owners:6b913a23 paused:f4ae4327 queues:11489644 rate_tokens:2803a66c readers:7c7718a3 sessions:115141d0 tasks:7bc37f25 votes:68b1b87c');
