-- +goose Up

-- The fingerprint of the schema that each migration leaves behind; see sqlstore's Migrations.
create table fingerprints (
  version     integer not null primary key,
  fingerprint text    not null
);
insert into fingerprints (version, fingerprint) values
(1, 'approvals:98785398 audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:e4e08134 event_blobs:12db69f6 events:1802ec78 evidence:a9b6ba97 intents:ccdc337e kv:a0730994 leases:a53a6b68 mail:ed1707e0 mailboxes:d216c4e3 message_blobs:410f5841 messages:9b7dd8f3 outbox:62caf788 owners:056f723d paused:736c16ae queues:6d8e98c8 rate_limits:596c772e rate_tokens:73784df4 sessions:c514c684 tasks:52354fe4 votes:4a86fc07'),
(2, 'approvals:98785398 audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:e4e08134 event_blobs:12db69f6 events:1802ec78 evidence:a9b6ba97 intents:ccdc337e kv:a0730994 leases:a53a6b68 mail:ed1707e0 mailboxes:d216c4e3 message_blobs:410f5841 messages:9b7dd8f3 notes:6e3c2562 outbox:62caf788 owners:056f723d paused:736c16ae queues:6d8e98c8 rate_limits:596c772e rate_tokens:73784df4 sessions:c514c684 tasks:52354fe4 votes:4a86fc07'),
(3, 'approvals:98785398 audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:e4e08134 event_blobs:12db69f6 events:1802ec78 evidence:a9b6ba97 fingerprints:363015e0 intents:ccdc337e kv:a0730994 leases:a53a6b68 mail:ed1707e0 mailboxes:d216c4e3 message_blobs:410f5841 messages:9b7dd8f3 notes:6e3c2562 outbox:62caf788 owners:056f723d paused:736c16ae queues:6d8e98c8 rate_limits:596c772e rate_tokens:73784df4 sessions:c514c684 tasks:52354fe4 votes:4a86fc07');
