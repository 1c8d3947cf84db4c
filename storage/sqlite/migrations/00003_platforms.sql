-- +goose Up

-- The latest amendment of an event, and what an open approval's request says now.
alter table events add column revision text not null default '';
alter table approvals add column changed text not null default '';
