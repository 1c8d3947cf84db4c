-- +goose Up

-- delay: how long what is due at ready_at, due_at, next_at or lease_until was to wait when that was set. A time that is further ahead means that the clock was
-- set back; it counts as due. How long earlier rows were to wait is not known: an hour at most.
alter table outbox       add column delay integer not null default 0;
alter table events       add column delay integer not null default 0;
alter table queues       add column delay integer;
alter table destinations add column delay integer;
alter table leases       add column delay integer not null default 0;
update outbox       set delay = 3600000000000 where next_at > 0;
update events       set delay = 3600000000000 where due_at > 0;
update queues       set delay = 3600000000000 where ready_at > 0;
update leases       set delay = 3600000000000;
update destinations set delay = 3600000000000 where ready_at > 0;
create index queues_ahead       on queues (platform, controls, suspect, ready_at - delay) where ready_at - delay > 0;
create index destinations_ahead on destinations (platform, ready_at - delay) where ready_at - delay > 0;

insert into fingerprints (version, fingerprint) values
(4, 'approvals:9ab2ef60 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f5bf1cd event_blobs:a252f98a events:258952f0 evidence:33b3d9ff fingerprints:d440c682 intents:b9e63589 kv:eefa7df6 leases:61eb1509 mail:a700ec97 mailboxes:3092c438 message_blobs:e634b7f0 messages:314eca4a notes:09d13105 outbox:6d61c2ab owners:6b913a23 paused:f4ae4327 queues:11489644 rate_tokens:2803a66c sessions:d0f3eca5 tasks:7bc37f25 votes:68b1b87c');
