/**
 * The tables of a file, step by step. A step that was ever released stays as it is: a file out there has run it. A change
 * is a new step at the end, and the schema version of a file is the number of steps that it has run.
 */

const tables = `
  create table meta (
    name text not null primary key,
    value text not null
  ) strict;

  create table partition (
    number integer primary key,
    name text not null unique,
    last_sequence integer not null default 0 check (last_sequence >= 0)
  ) strict;

  create table execution (
    id text not null primary key,
    partition integer not null,
    key text,
    namespace text not null,
    task text not null,
    lane text not null,
    class text not null,
    state text not null,
    priority integer not null check (priority >= 0),
    attempt_number integer,
    failure_count integer not null check (failure_count >= 0),
    created_at integer not null,
    changed_at integer not null,
    started_at integer,
    due_at integer,
    ended_at integer,
    worker_id text,
    failure_message text,
    record text not null,
    check (
      case state
        when 'waiting' then ended_at is null
        when 'active' then ended_at is null and due_at is not null and worker_id is not null
        when 'completed' then ended_at is not null and due_at is null and worker_id is not null
        when 'delayed' then ended_at is null and due_at is not null
        when 'rate_limited' then ended_at is null
        when 'waiting_children' then ended_at is null
        when 'suspended' then ended_at is null
        when 'failed' then ended_at is not null and due_at is null
        when 'cancelled' then ended_at is not null and due_at is null
        when 'expired' then ended_at is not null and due_at is null
        when 'skipped' then ended_at is not null and due_at is null
        else false
      end
    ),
    check ((attempt_number is null) = (worker_id is null))
  ) strict;

  create table attempt (
    id text not null primary key,
    partition integer not null,
    execution_id text not null,
    number integer not null check (number > 0),
    kind text not null,
    outcome text not null,
    started_at integer not null,
    ended_at integer not null,
    worker_id text not null,
    failure_category text,
    failure_message text,
    record text not null
  ) strict;

  create table queue (
    partition integer not null,
    id text not null,
    lane text not null,
    class text not null,
    created_at integer not null,
    record text not null,
    primary key (partition, id)
  ) strict;

  create table entry (
    partition integer not null,
    name text not null,
    score integer not null,
    id text not null,
    primary key (partition, name, score, id)
  ) strict, without rowid;

  create table blob (
    partition integer not null,
    key text not null,
    bytes blob not null,
    primary key (partition, key)
  ) strict;

  create table event (
    partition integer not null,
    sequence integer not null check (sequence > 0),
    at integer not null,
    type text not null,
    execution_id text not null,
    namespace text not null,
    task text not null,
    lane text not null,
    attempt_number integer,
    outcome text,
    record text not null,
    primary key (partition, sequence)
  ) strict;
`

export const migrations: readonly string[] = [tables]
