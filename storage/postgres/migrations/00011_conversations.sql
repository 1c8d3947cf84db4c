-- +goose Up

-- The mailboxes that are conversations in a person's list. person: the actor who wrote there; '' = it is in no list. title: that of the first
-- message, until it is renamed; '' = nobody has written there, or it was deleted. changed_at: when mail or the title changed last.
alter table mailboxes add column person text not null default '';
alter table mailboxes add column title text not null default '';
alter table mailboxes add column changed_at bigint not null default 0;
create index mailboxes_person on mailboxes (person, changed_at, mailbox) where person <> '';

-- openharness:oh/NAME/SESSION is NAME's; a name has nothing that is escaped. A conversation inside a session is in no list. A text with a
-- zero character can't be read here: such a conversation is untitled.
with first as (
  select distinct on (mailbox) mailbox, content from mail
  where content like '{"kind":"said"%' and mailbox like 'openharness:oh/_%/_%' and mailbox not like 'openharness:oh/%/%/%'
  order by mailbox, seq
), last as (
  select mailbox, max(at) as at from mail group by mailbox
)
update mailboxes set
  person = 'openharness:' || split_part(mailboxes.mailbox, '/', 2),
  title = coalesce(nullif(trim(left(replace(
    case when first.content like '%\\u0000%' then '' else first.content::json ->> 'text' end, chr(10), ' '), 60)), ''), 'Untitled'),
  changed_at = last.at
from first join last using (mailbox) where mailboxes.mailbox = first.mailbox;

insert into fingerprints (version, fingerprint) values
(11, 'approvals:cd6febbb audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:a8f7f2f9 event_blobs:12db69f6 events:7e4faba6 evidence:a9b6ba97 fingerprints:363015e0 intents:c3284186 kv:a0730994 leases:1d42bd99 mail:ed1707e0 mailboxes:3966970d message_blobs:410f5841 messages:ed9b2a9f notes:6e3c2562 outbox:27cba970 owners:056f723d paused:736c16ae queues:18f01d57 rate_limits:596c772e rate_tokens:73784df4 readers:c771389c sessions:639439ca tasks:52354fe4 votes:4a86fc07');
