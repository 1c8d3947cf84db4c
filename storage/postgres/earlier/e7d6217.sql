-- Changes the schema of e7d6217 into the one that the first two migrations make now.
-- Its fingerprints:
-- (1, 'approvals:98785398 audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:50f7549f event_blobs:12db69f6 events:7986a8e8 evidence:a9b6ba97 intents:ccdc337e kv:a0730994 leases:a53a6b68 message_blobs:410f5841 messages:18862921 outbox:502003c2 owners:056f723d paused:736c16ae queues:246decbe rate_limits:596c772e rate_tokens:73784df4 sessions:c514c684 tasks:52354fe4 votes:4a86fc07')
-- (2, 'approvals:98785398 audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:50f7549f event_blobs:12db69f6 events:7986a8e8 evidence:a9b6ba97 intents:ccdc337e kv:a0730994 leases:a53a6b68 message_blobs:410f5841 messages:18862921 notes:6e3c2562 outbox:502003c2 owners:056f723d paused:736c16ae queues:246decbe rate_limits:596c772e rate_tokens:73784df4 sessions:c514c684 tasks:52354fe4 votes:4a86fc07')

alter table owners       set (fillfactor = 50);
alter table queues       set (fillfactor = 50);
alter table events       set (fillfactor = 75);
alter table sessions     set (fillfactor = 75);
alter table outbox       set (fillfactor = 75);
alter table destinations set (fillfactor = 50);

drop index queues_held;
drop index queues_owner;
create index queues_held on queues (rank, owner) where owner <> '';

drop index events_actor;
drop index events_unended;
drop index events_session;
drop index events_end;
create index events_actor   on events (actor_id, rank) where ended_at = 0 and actor_id <> '';
create index events_unended on events (seq) where ended_at = 0 and seq > 0;
create index events_dead    on events (seq) where end_kind = 'dead';

drop index outbox_waiting;
drop index outbox_flight;
drop index outbox_owner;
drop index outbox_state;
create index outbox_waiting on outbox (destination, seq) where state = 'waiting' and owner = '';
create index outbox_flight  on outbox (destination, owner) where owner <> '';
create index outbox_state   on outbox (state, seq) where state <> 'sent';

drop index destinations_unused;

alter table message_blobs drop constraint message_blobs_session_invocation_n_fkey;
alter table messages
  drop constraint messages_session_fkey,
  drop constraint messages_pkey,
  add primary key (invocation, n, session);
alter table message_blobs add foreign key (session, invocation, n)
  references messages (session, invocation, n) on delete cascade;

create table mailboxes (
  mailbox text    not null primary key,
  seq     bigint  not null
);

create table mail (
  mailbox text    not null,
  key     text    not null,
  seq     bigint  not null,
  event   bigint  not null,
  content text    not null,
  at      bigint  not null,
  taken   bigint  not null default 0,
  primary key (key, mailbox)
);
create unique index mail_order on mail (mailbox, seq);
create index mail_taken        on mail (mailbox, taken, seq);
create index mail_event        on mail (mailbox, event, seq);
create index mail_at           on mail (at);
