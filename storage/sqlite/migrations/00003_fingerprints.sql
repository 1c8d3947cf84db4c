-- +goose Up

-- The fingerprint of the schema that each migration leaves behind; see sqlstore's Migrations.
create table fingerprints (
  version     integer not null primary key,
  fingerprint text    not null
) strict;
insert into fingerprints (version, fingerprint) values
(1, 'approvals:9ab2ef60 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f84812a event_blobs:a252f98a events:99b81888 evidence:33b3d9ff intents:b9e63589 kv:eefa7df6 leases:d81d3139 mail:a700ec97 mailboxes:3092c438 message_blobs:e634b7f0 messages:314eca4a outbox:b7b1fd9f owners:6b913a23 paused:f4ae4327 queues:70e2ea00 rate_tokens:2803a66c sessions:d0f3eca5 tasks:7bc37f25 votes:68b1b87c'),
(2, 'approvals:9ab2ef60 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f84812a event_blobs:a252f98a events:99b81888 evidence:33b3d9ff intents:b9e63589 kv:eefa7df6 leases:d81d3139 mail:a700ec97 mailboxes:3092c438 message_blobs:e634b7f0 messages:314eca4a notes:09d13105 outbox:b7b1fd9f owners:6b913a23 paused:f4ae4327 queues:70e2ea00 rate_tokens:2803a66c sessions:d0f3eca5 tasks:7bc37f25 votes:68b1b87c'),
(3, 'approvals:9ab2ef60 audit:b9c925bb audit_head:6fc05035 blobs:601f8610 destinations:4f84812a event_blobs:a252f98a events:99b81888 evidence:33b3d9ff fingerprints:d440c682 intents:b9e63589 kv:eefa7df6 leases:d81d3139 mail:a700ec97 mailboxes:3092c438 message_blobs:e634b7f0 messages:314eca4a notes:09d13105 outbox:b7b1fd9f owners:6b913a23 paused:f4ae4327 queues:70e2ea00 rate_tokens:2803a66c sessions:d0f3eca5 tasks:7bc37f25 votes:68b1b87c');
