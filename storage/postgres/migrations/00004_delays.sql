-- +goose Up

-- delay: how long what is due at ready_at, due_at, next_at or lease_until was to wait when that was set. A time that is further ahead means that the clock was
-- set back; it counts as due. How long earlier rows were to wait is not known: an hour at most.
alter table outbox       add column delay bigint not null default 0;
alter table events       add column delay bigint not null default 0;
alter table queues       add column delay bigint;
alter table destinations add column delay bigint;
alter table leases       add column delay bigint not null default 0;
update outbox       set delay = 3600000000000 where next_at > 0;
update events       set delay = 3600000000000 where due_at > 0;
update queues       set delay = 3600000000000 where ready_at > 0;
update leases       set delay = 3600000000000;
update destinations set delay = 3600000000000 where ready_at > 0;
create index queues_ahead       on queues (platform, controls, suspect, (ready_at - delay)) where ready_at - delay > 0;
create index destinations_ahead on destinations (platform, (ready_at - delay)) where ready_at - delay > 0;

insert into fingerprints (version, fingerprint) values
(4, 'approvals:98785398 audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:a8f7f2f9 event_blobs:12db69f6 events:4a605be2 evidence:a9b6ba97 fingerprints:363015e0 intents:ccdc337e kv:a0730994 leases:1d42bd99 mail:ed1707e0 mailboxes:d216c4e3 message_blobs:410f5841 messages:9b7dd8f3 notes:6e3c2562 outbox:9ac00bac owners:056f723d paused:736c16ae queues:18f01d57 rate_limits:596c772e rate_tokens:73784df4 sessions:c514c684 tasks:52354fe4 votes:4a86fc07');
