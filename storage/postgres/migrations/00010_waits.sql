-- +goose Up

-- While an approval is open: whether it waits for the decision of this account, which may decide and has no vote that stands.
alter table readers add column waits boolean not null default false;

-- Not for who asked, by any of their accounts, unless the rule lets them decide; nor for who has voted since the last change of the arguments.
-- +goose StatementBegin
do $$
declare
  a record;
  r json;
begin
  for a in select id, seq, requester, body from approvals where state = 'open' loop
    begin
      r := a.body::json -> 'rule';
      update readers set waits = true
      where open and approval = a.seq
        and (account <> a.requester
            and coalesce(r -> 'people' ->> account, account) <> coalesce(r -> 'people' ->> a.requester, a.requester)
          or coalesce((r ->> 'self')::boolean, false)
            and exists (select 1 from json_array_elements_text(
                case when json_typeof(r -> 'approvers') = 'array' then r -> 'approvers' else '[]' end) n
              where n = account or n = 'local' and coalesce((a.body::json -> 'requester' ->> 'local')::boolean, false)))
        and not exists (
          select 1 from votes v where v.approval = a.id and v.actor = readers.account
            and v.n > coalesce((select max(e.n) from votes e where e.approval = a.id and e.body::json ->> 'choice' = 'edit'), -1));
    exception when others then
      null;
    end;
  end loop;
end $$;
-- +goose StatementEnd

insert into fingerprints (version, fingerprint) values
(10, 'approvals:cd6febbb audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:a8f7f2f9 event_blobs:12db69f6 events:7e4faba6 evidence:a9b6ba97 fingerprints:363015e0 intents:c3284186 kv:a0730994 leases:1d42bd99 mail:ed1707e0 mailboxes:d216c4e3 message_blobs:410f5841 messages:ed9b2a9f notes:6e3c2562 outbox:27cba970 owners:056f723d paused:736c16ae queues:18f01d57 rate_limits:596c772e rate_tokens:73784df4 readers:c771389c sessions:639439ca tasks:52354fe4 votes:4a86fc07');
