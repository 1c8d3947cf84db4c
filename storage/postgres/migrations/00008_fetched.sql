-- +goose Up

-- The message that an event was read as, if its platform was asked for some of it (core.Input.Fetched); '' = it is read from the payload alone.
alter table events add column fetched text not null default '';

insert into fingerprints (version, fingerprint) values
(8, 'approvals:98785398 audit:79881c6a audit_head:21c17842 blobs:66560ab2 destinations:a8f7f2f9 event_blobs:12db69f6 events:7e4faba6 evidence:a9b6ba97 fingerprints:363015e0 intents:c3284186 kv:a0730994 leases:1d42bd99 mail:ed1707e0 mailboxes:d216c4e3 message_blobs:410f5841 messages:ed9b2a9f notes:6e3c2562 outbox:9ac00bac owners:056f723d paused:736c16ae queues:18f01d57 rate_limits:596c772e rate_tokens:73784df4 sessions:639439ca tasks:52354fe4 votes:4a86fc07');
