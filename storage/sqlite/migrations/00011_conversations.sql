-- +goose Up

-- The mailboxes that are conversations in a person's list. person: the actor who wrote there; '' = it is in no list. title: that of the first
-- message, until it is renamed; '' = nobody has written there, or it was deleted. changed_at: when mail or the title changed last.
alter table mailboxes add column person text not null default '';
alter table mailboxes add column title text not null default '';
alter table mailboxes add column changed_at integer not null default 0;
create index mailboxes_person on mailboxes (person, changed_at, mailbox) where person <> '';

-- openharness:oh/NAME/SESSION is NAME's; a name has nothing that is escaped. A conversation inside a session is in no list.
update mailboxes set
  person = 'openharness:' || substr(mailbox, 16, instr(substr(mailbox, 16), '/') - 1),
  title = coalesce((
    select nullif(trim(substr(replace(replace(json_extract(m.content, '$.text'), char(10), ' '), char(0), ' '), 1, 60)), '')
    from mail m where m.mailbox = mailboxes.mailbox and json_valid(m.content) and json_extract(m.content, '$.kind') = 'said'
    order by m.seq limit 1), 'Untitled'),
  changed_at = coalesce((select max(m.at) from mail m where m.mailbox = mailboxes.mailbox), 0)
where mailbox like 'openharness:oh/_%/_%' and mailbox not like 'openharness:oh/%/%/%'
  and exists (select 1 from mail m where m.mailbox = mailboxes.mailbox and json_valid(m.content)
    and json_extract(m.content, '$.kind') = 'said');

insert into fingerprints (version, fingerprint) values
(11, 'approvals:6762aca8 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f5bf1cd event_blobs:a252f98a events:d144a391 evidence:33b3d9ff fingerprints:d440c682 intents:feefbe9c kv:eefa7df6 leases:61eb1509 mail:a700ec97 mailboxes:f30b8363 message_blobs:e634b7f0 messages:dbb691a9 notes:09d13105 outbox:96a0e0c7 owners:6b913a23 paused:f4ae4327 queues:11489644 rate_tokens:2803a66c readers:7c7718a3 sessions:115141d0 tasks:7bc37f25 votes:68b1b87c');
