-- Changes the schema of e7d6217 into the one that the first two migrations make now.
-- Its fingerprints:
-- (1, 'approvals:9ab2ef60 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:6d760c95 event_blobs:a252f98a events:58f53db0 evidence:33b3d9ff intents:b9e63589 kv:eefa7df6 leases:d81d3139 message_blobs:e634b7f0 messages:ba62d06d outbox:d05dbafd owners:6b913a23 paused:f4ae4327 queues:aa84dc86 rate_tokens:2803a66c sessions:d0f3eca5 tasks:7bc37f25 votes:68b1b87c')
-- (2, 'approvals:9ab2ef60 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:6d760c95 event_blobs:a252f98a events:58f53db0 evidence:33b3d9ff intents:b9e63589 kv:eefa7df6 leases:d81d3139 message_blobs:e634b7f0 messages:ba62d06d notes:09d13105 outbox:d05dbafd owners:6b913a23 paused:f4ae4327 queues:aa84dc86 rate_tokens:2803a66c sessions:d0f3eca5 tasks:7bc37f25 votes:68b1b87c')

drop index queues_unused;
create index queues_unused on queues (queue_key) where controls = true and ready_at is null;

drop index events_session;
drop index events_end;
create index events_dead on events (seq) where end_kind = 'dead';

drop index outbox_waiting;
drop index outbox_owner;
drop index outbox_state;
drop index outbox_sent;
create index outbox_waiting on outbox (destination, seq) where state = 'waiting' and owner = '';
create index outbox_state   on outbox (state, seq) where state <> 'sent';
create index outbox_sent    on outbox (state, sent_at) where state = 'sent';

drop index destinations_unused;

-- The earlier rows lie by session. Those of message_blobs must refer to the new table before the old one goes, since they would go with it.
drop index messages_order;
alter table messages rename to earlier_messages;
create table messages (
  seq        integer primary key,
  session    text    not null,
  invocation text    not null,
  n          integer not null,
  pos        integer not null,
  body       text    not null
) strict;
create unique index messages_order  on messages (session, pos);
create unique index messages_writer on messages (invocation, n, session);
insert into messages (session, invocation, n, pos, body)
  select session, invocation, n, pos, body from earlier_messages order by invocation, n, session;

drop index message_blobs_digest;
alter table message_blobs rename to earlier_message_blobs;
create table message_blobs (
  session    text    not null,
  invocation text    not null,
  n          integer not null,
  digest     text    not null references blobs (digest),
  primary key (session, invocation, n, digest),
  foreign key (session, invocation, n) references messages (session, invocation, n) on delete cascade
) strict, without rowid;
create index message_blobs_digest on message_blobs (digest);
insert into message_blobs (session, invocation, n, digest)
  select session, invocation, n, digest from earlier_message_blobs;
drop table earlier_message_blobs;
drop table earlier_messages;

create table mailboxes (
  mailbox text    not null primary key,
  seq     integer not null
) strict, without rowid;

create table mail (
  mailbox text    not null,
  key     text    not null,
  seq     integer not null,
  event   integer not null,
  content text    not null,
  at      integer not null,
  taken   integer not null default 0,
  primary key (key, mailbox)
) strict;
create unique index mail_order on mail (mailbox, seq);
create index mail_taken        on mail (mailbox, taken, seq);
create index mail_event        on mail (mailbox, event, seq);
create index mail_at           on mail (at);
