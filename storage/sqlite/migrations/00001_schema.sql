-- +goose Up

-- Marks the file as gatehouse's; another program's database is refused.
pragma application_id = 1734440037;

-- Times are nanoseconds since 1970; 0 = none. Booleans are integers: 0 or 1.

-- The processes that hold queues and posts. beat rises every second; see sqlstore's Beat.
create table owners (
  owner text    not null primary key,
  beat  integer not null
) strict, without rowid;

-- One row per queue that ever had an event. controls: a queue of clicks or control words, apart from its
-- conversation's. ready_at: null = held, or nothing to do; 0 = can be claimed; otherwise the time until which its next event is delayed.
-- head: that event; rank and suspect are its own (see events). event: the event that the holder runs, or ran when it died. generation is
-- used by conversations only.
create table queues (
  queue_key    text    not null primary key,
  platform     text    not null,
  conversation text    not null,
  controls     integer not null,
  generation   integer not null default 1,
  owner        text    not null default '',
  fence        integer not null default 0,
  event        integer not null default 0,
  stop         integer not null default 0,
  ready_at     integer,
  rank         integer,
  head         integer,
  suspect      integer
) strict, without rowid;
create index queues_ready  on queues (platform, controls, suspect, ready_at, rank, head) where ready_at is not null;
create index queues_scoped on queues (conversation, controls, suspect, ready_at, rank, head) where ready_at is not null;
create index queues_rank   on queues (ready_at, rank) where ready_at is not null;
create index queues_held   on queues (rank) where owner <> '';
create index queues_owner  on queues (owner) where owner <> '';
create index queues_unused on queues (queue_key) where controls = true and ready_at is null;

-- ended_at = 0: it waits or runs. signal: claimed before messages. due_at: 0, or the end of its delay. rank: its place among the events of
-- all actors (see rank in accept.go). suspect: attempts of it ended with the death of their process, twice or more. revision: that of its latest
-- amendment.
create table events (
  seq          integer primary key autoincrement,
  platform     text    not null,
  id           text    not null,
  conversation text    not null,
  queue_key    text    not null,
  kind         text    not null,
  signal       integer not null,
  subject      text    not null,
  actor        text    not null,
  actor_id     text    not null,
  address      text    not null,
  payload      blob,
  invocation   text    not null,
  session      text    not null default '',
  accepted_at  integer not null,
  due_at       integer not null default 0,
  rank         integer not null default 0,
  attempt      integer not null default 0,
  retries      integer not null default 0,
  not_before   integer not null default 0,
  ended_at     integer not null default 0,
  end_kind     text    not null default '',
  end_category text    not null default '',
  end_cause    text    not null default '',
  retry_of     integer not null default 0,
  revision     text    not null default '',
  unique (platform, id)
) strict;
create index events_waiting      on events (queue_key, signal, seq) where ended_at = 0;
create index events_actor        on events (actor_id, rank) where ended_at = 0;
create index events_rate         on events (actor_id, accepted_at) where actor_id <> '';
create index events_unended      on events (seq) where ended_at = 0;
create index events_conversation on events (conversation, seq);
create index events_open         on events (conversation, seq) where ended_at = 0;
create index events_invocation   on events (invocation, seq);
create index events_dead         on events (seq) where end_kind = 'dead';
create index events_ended        on events (ended_at) where ended_at > 0;
create index events_clicks       on events (subject) where kind in ('click', 'again');
create unique index events_retry on events (retry_of) where retry_of <> 0;

-- messages: the number of rows. next_pos: the position of the next one. Both are stored so that nothing has to count rows.
-- has_messages: its graph keeps messages.
create table sessions (
  id             text    not null primary key,
  schema_version text    not null,
  state          text    not null,
  has_messages   integer not null,
  messages       integer not null,
  next_pos       integer not null,
  version        integer not null,
  created_at     integer not null,
  updated_at     integer not null
) strict, without rowid;
create index sessions_updated on sessions (updated_at);

-- The rows lie in the order in which they came, so that those of a commit share pages; so do those of messages_writer, since the ids of
-- invocations begin with the time.
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

create table paused (
  invocation text    not null primary key,
  session    text    not null,
  signal     text    not null,
  record     text    not null,
  created_at integer not null
) strict, without rowid;
create index paused_session on paused (session);
create index paused_signal  on paused (signal, created_at);

-- body: what never changes (address, call, requester, rule). changed: the new text of the request, if it was amended.
create table approvals (
  seq          integer primary key autoincrement,
  id           text    not null unique,
  invocation   text    not null,
  session      text    not null,
  conversation text    not null,
  body         text    not null,
  state        text    not null,
  reason       text    not null,
  decided_by   text    not null,
  decided_at   integer not null,
  created_at   integer not null,
  deadline     integer not null,
  begun        integer not null,
  changed      text    not null,
  requester    text    not null
) strict;
create index approvals_requester    on approvals (requester, seq) where state = 'open';
create index approvals_state        on approvals (state, seq);
create index approvals_session      on approvals (session, seq);
create index approvals_conversation on approvals (conversation, seq);
create index approvals_invocation   on approvals (invocation, seq);
create index approvals_decided      on approvals (decided_at) where state <> 'open';

create table votes (
  approval text    not null references approvals (id) on delete cascade,
  n        integer not null,
  actor    text    not null,
  body     text    not null,
  primary key (approval, n)
) strict, without rowid;

-- reason: a person's text, which may be erased; the hash covers its digest. session: with which it is erased, '' without a reason.
-- key: the id of the secret key that made the hash.
create table audit (
  seq           integer not null primary key,
  at            integer not null,
  approval      text    not null,
  action        text    not null,
  actor         text    not null,
  detail        text    not null,
  reason        text    not null,
  reason_digest text    not null,
  session       text    not null default '',
  key           text    not null,
  prev          text    not null,
  hash          text    not null
) strict;
create index audit_approval on audit (approval);
create index audit_reasons  on audit (session) where reason <> '';
-- The head of the log: one row. pruned: approvals that were decided before may be missing. seal: a MAC over the rest.
create table audit_head (
  one    integer not null primary key,
  seq    integer not null,
  hash   text    not null,
  pruned integer not null default 0,
  seal   text    not null default ''
) strict;
insert into audit_head (one, seq, hash) values (1, 0, '');

-- begun_at 0: the call never ran, since its turn ended without it; content says why. content is a JSON string: a tool's output may hold what
-- a text can't.
create table intents (
  approval   text    not null primary key,
  invocation text    not null,
  tool       text    not null,
  digest     text    not null,
  begun_at   integer not null,
  ended_at   integer not null default 0,
  content    text    not null default '""',
  category   text    not null default ''
) strict, without rowid;

-- A row is in flight while owner is set. next_at: 0, or the end of its delay. arrived: of a card, which the audit log says was sent.
create table outbox (
  seq          integer primary key autoincrement,
  key          text    not null unique,
  destination  text    not null,
  platform     text    not null,
  conversation text    not null,
  kind         text    not null,
  approval     text    not null,
  post         text    not null,
  state        text    not null,
  wanted       integer not null,
  shown        integer not null,
  parts        text    not null,
  attempts     integer not null,
  next_at      integer not null,
  cause        text    not null,
  owner        text    not null default '',
  fence        integer not null default 0,
  created_at   integer not null,
  sent_at      integer not null default 0,
  arrived      integer not null default 0
) strict;
create index outbox_waiting      on outbox (destination, seq) where state = 'waiting' and owner = '';
create index outbox_flight       on outbox (destination) where owner <> '';
create index outbox_state        on outbox (state, seq) where state <> 'sent';
create index outbox_conversation on outbox (conversation, seq);
create index outbox_open         on outbox (conversation, seq) where state = 'waiting';
create index outbox_approval     on outbox (approval) where approval <> '';
create index outbox_sent         on outbox (state, sent_at) where state = 'sent';

-- One row per destination. platform and conversation: those of its first waiting row, which is head. ready_at: null = a row is in flight, or nothing to deliver; 0 = that row is
-- due; otherwise the end of its delay.
create table destinations (
  destination  text    not null primary key,
  platform     text    not null,
  conversation text    not null,
  ready_at     integer,
  head         integer
) strict, without rowid;
create index destinations_ready  on destinations (platform, ready_at, head) where ready_at is not null;
create index destinations_scoped on destinations (conversation, ready_at, head) where ready_at is not null;

-- The last number that was given out in a mailbox; its row is the lock of the mailbox.
create table mailboxes (
  mailbox text    not null primary key,
  seq     integer not null
) strict, without rowid;

-- The posts that clients fetch. key: the post's in the outbox. taken: the event whose answer gave it out, or 0.
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

create table tasks (
  key     text    not null primary key,
  kind    text    not null,
  subject text    not null,
  due     integer not null
) strict, without rowid;
create index tasks_due on tasks (due);

-- What an invocation did, as input of a join check; the last segment's is kept.
create table evidence (
  invocation text    not null primary key,
  session    text    not null,
  body       text    not null,
  at         integer not null
) strict, without rowid;
create index evidence_session on evidence (session);
create index evidence_at      on evidence (at);

-- expires_at 0: it does not expire.
create table kv (
  name       text    not null primary key,
  value      text    not null,
  expires_at integer not null default 0
) strict, without rowid;
create index kv_expires on kv (expires_at) where expires_at > 0;

-- The holder of a name, and until when.
create table leases (
  name        text    not null primary key,
  owner       text    not null,
  lease_until integer not null
) strict, without rowid;
create index leases_until on leases (lease_until);

-- Each use of a rate-limited name, and when it stops counting.
create table rate_tokens (
  seq  integer primary key,
  name text    not null,
  at   integer not null,
  ends integer not null
) strict;
create index rate_tokens_name on rate_tokens (name, at);
create index rate_tokens_ends on rate_tokens (ends);

-- The bytes of images. digest: "sha256:" and their SHA-256.
create table blobs (
  digest text  not null primary key,
  body   blob  not null
) strict;

-- The messages that refer to a blob.
create table message_blobs (
  session    text    not null,
  invocation text    not null,
  n          integer not null,
  digest     text    not null references blobs (digest),
  primary key (session, invocation, n, digest),
  foreign key (session, invocation, n) references messages (session, invocation, n) on delete cascade
) strict, without rowid;
create index message_blobs_digest on message_blobs (digest);

-- The events that a blob came with: until they have ended, no message may refer to it yet.
create table event_blobs (
  digest   text    not null references blobs (digest) on delete cascade,
  platform text    not null,
  event    text    not null,
  at       integer not null,
  primary key (digest, platform, event)
) strict, without rowid;
create index event_blobs_at on event_blobs (at);
