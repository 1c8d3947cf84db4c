-- +goose Up

-- The message that an event was read as, if its platform was asked for some of it (core.Input.Fetched); '' = it is read from the payload alone.
alter table events add column fetched text not null default '';

insert into fingerprints (version, fingerprint) values
(8, 'approvals:9ab2ef60 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f5bf1cd event_blobs:a252f98a events:d144a391 evidence:33b3d9ff fingerprints:d440c682 intents:feefbe9c kv:eefa7df6 leases:61eb1509 mail:a700ec97 mailboxes:3092c438 message_blobs:e634b7f0 messages:dbb691a9 notes:09d13105 outbox:6d61c2ab owners:6b913a23 paused:f4ae4327 queues:11489644 rate_tokens:2803a66c sessions:115141d0 tasks:7bc37f25 votes:68b1b87c');
