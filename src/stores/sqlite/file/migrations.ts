/**
 * The tables of a file, as a list of steps. Released steps never change: existing files have run them. A change is a
 * new step at the end. The schema version of a file is the number of steps that it has run.
 */

import { admission } from './admission-tables.ts'

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

/**
 * An ended execution may still be due while others depend on it. SQLite cannot change a check in place, so the
 * executions move to a new table.
 */
const flows = `
  create table flow (
    id text not null primary key,
    partition integer not null,
    key text,
    namespace text not null,
    name text not null,
    state text not null check (state in ('open', 'running', 'blocked', 'completed', 'failed', 'cancelled')),
    phase text not null,
    member_count integer not null check (member_count >= 0),
    edge_count integer not null check (edge_count >= 0),
    created_at integer not null,
    changed_at integer not null,
    due_at integer,
    ended_at integer,
    record text not null,
    check (
      case phase
        when 'held' then ended_at is null and state <> 'cancelled'
        when 'open' then ended_at is null and state <> 'cancelled'
        when 'sealed' then ended_at is null and state <> 'cancelled'
        when 'ended' then ended_at is not null and state in ('completed', 'failed')
        when 'cancelled' then ended_at is not null and state = 'cancelled'
        else false
      end
    )
  ) strict;

  create table edge (
    id text not null primary key,
    partition integer not null,
    flow_id text not null,
    upstream_id text not null,
    downstream_id text not null,
    state text not null check (state in ('open', 'satisfied', 'impossible')),
    input_name text,
    created_at integer not null,
    resolved_at integer,
    record text not null,
    check ((state = 'open') = (resolved_at is null)),
    check (upstream_id <> downstream_id)
  ) strict;

  create table moved_execution (
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
    flow_id text,
    record text not null,
    check (
      case state
        when 'waiting' then ended_at is null
        when 'active' then ended_at is null and due_at is not null and worker_id is not null
        when 'completed' then ended_at is not null and worker_id is not null
        when 'delayed' then ended_at is null and due_at is not null
        when 'rate_limited' then ended_at is null
        when 'waiting_children' then ended_at is null
        when 'suspended' then ended_at is null
        when 'failed' then ended_at is not null
        when 'cancelled' then ended_at is not null
        when 'expired' then ended_at is not null
        when 'skipped' then ended_at is not null
        else false
      end
    ),
    check (ended_at is null or due_at is null or flow_id is not null),
    check ((attempt_number is null) = (worker_id is null))
  ) strict;

  insert into moved_execution (
    id, partition, key, namespace, task, lane, class, state, priority, attempt_number, failure_count, created_at,
    changed_at, started_at, due_at, ended_at, worker_id, failure_message, record
  )
  select
    id, partition, key, namespace, task, lane, class, state, priority, attempt_number, failure_count, created_at,
    changed_at, started_at, due_at, ended_at, worker_id, failure_message, record
  from execution order by rowid;

  drop table execution;

  alter table moved_execution rename to execution;

  alter table event add column flow_id text;
`

/** Steps, waitpoints and signals. */
const journals = `
  create table step (
    id text not null primary key,
    partition integer not null,
    execution_id text not null,
    kind text not null check (kind in ('call', 'now', 'waitpoint', 'sleep', 'wait')),
    name text not null,
    position integer not null check (position >= 0),
    phase text not null check (phase in ('completed', 'failed', 'retrying', 'open', 'closed')),
    attempt_count integer not null check (attempt_count >= 0),
    created_at integer not null,
    ended_at integer,
    record text not null,
    check ((phase = 'open') = (ended_at is null)),
    check ((phase in ('open', 'closed')) = (kind in ('sleep', 'wait')))
  ) strict;

  create table waitpoint (
    id text not null primary key,
    partition integer not null,
    execution_id text not null,
    target text not null,
    signal_count integer not null check (signal_count >= 0),
    created_at integer not null,
    closed_at integer,
    close_reason text,
    record text not null,
    check ((closed_at is null) = (close_reason is null))
  ) strict;

  create table signal (
    id text not null primary key,
    partition integer not null,
    execution_id text not null,
    target text not null,
    sequence integer not null check (sequence > 0),
    name text not null,
    source_type text not null check (source_type in ('token', 'caller', 'operator', 'engine')),
    source_identity text not null,
    effect text not null check (effect in ('resumed', 'counted', 'counted_before', 'not_awaited', 'buffered')),
    accepted_at integer not null,
    record text not null
  ) strict;
`

/** Processes that have the file open, with the levels that they can run. */
const processes = `
  create table process (
    id text not null primary key,
    host text not null,
    pid integer not null,
    version text not null,
    level_min integer not null,
    level_max integer not null,
    announced_at integer not null
  ) strict;
`

/** A member that waits for other members has the state `waiting_dependencies`. */
const dependencies = `
  create table moved_execution (
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
    flow_id text,
    record text not null,
    check (
      case state
        when 'waiting' then ended_at is null
        when 'active' then ended_at is null and due_at is not null and worker_id is not null
        when 'completed' then ended_at is not null and worker_id is not null
        when 'delayed' then ended_at is null and due_at is not null
        when 'rate_limited' then ended_at is null
        when 'waiting_dependencies' then ended_at is null
        when 'suspended' then ended_at is null
        when 'failed' then ended_at is not null
        when 'cancelled' then ended_at is not null
        when 'expired' then ended_at is not null
        when 'skipped' then ended_at is not null
        else false
      end
    ),
    check (ended_at is null or due_at is null or flow_id is not null),
    check ((attempt_number is null) = (worker_id is null))
  ) strict;

  insert into moved_execution (
    id, partition, key, namespace, task, lane, class, state, priority, attempt_number, failure_count, created_at,
    changed_at, started_at, due_at, ended_at, worker_id, failure_message, flow_id, record
  )
  select
    id, partition, key, namespace, task, lane, class,
    case state when 'waiting_children' then 'waiting_dependencies' else state end, priority, attempt_number,
    failure_count, created_at, changed_at, started_at, due_at, ended_at, worker_id, failure_message, flow_id, record
  from execution order by rowid;

  drop table execution;

  alter table moved_execution rename to execution;
`

/** Names that concern the store as a whole, such as the ids of retired signing keys. */
const facts = `
  create table fact (
    kind text not null,
    name text not null,
    primary key (kind, name)
  ) strict, without rowid;
`

/**
 * Children of a handler are steps, and so are the waits for them. An ended execution may be due while its children are to be
 * cancelled.
 */
const children = `
  create table moved_step (
    id text not null primary key,
    partition integer not null,
    execution_id text not null,
    kind text not null check (kind in ('call', 'now', 'waitpoint', 'sleep', 'wait', 'child', 'join')),
    name text not null,
    position integer not null check (position >= 0),
    phase text not null check (phase in ('completed', 'failed', 'retrying', 'open', 'closed')),
    attempt_count integer not null check (attempt_count >= 0),
    created_at integer not null,
    ended_at integer,
    record text not null,
    check ((phase = 'open') = (ended_at is null)),
    check (
      case kind
        when 'child' then phase in ('open', 'completed', 'failed')
        else (phase in ('open', 'closed')) = (kind in ('sleep', 'wait', 'join'))
      end
    )
  ) strict;

  insert into moved_step (
    id, partition, execution_id, kind, name, position, phase, attempt_count, created_at, ended_at, record
  )
  select id, partition, execution_id, kind, name, position, phase, attempt_count, created_at, ended_at, record
  from step order by rowid;

  drop table step;

  alter table moved_step rename to step;

  create table moved_execution (
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
    flow_id text,
    record text not null,
    check (
      case state
        when 'waiting' then ended_at is null
        when 'active' then ended_at is null and due_at is not null and worker_id is not null
        when 'completed' then ended_at is not null and worker_id is not null
        when 'delayed' then ended_at is null and due_at is not null
        when 'rate_limited' then ended_at is null
        when 'waiting_dependencies' then ended_at is null
        when 'suspended' then ended_at is null
        when 'failed' then ended_at is not null
        when 'cancelled' then ended_at is not null
        when 'expired' then ended_at is not null
        when 'skipped' then ended_at is not null
        else false
      end
    ),
    check ((attempt_number is null) = (worker_id is null))
  ) strict;

  insert into moved_execution (
    id, partition, key, namespace, task, lane, class, state, priority, attempt_number, failure_count, created_at,
    changed_at, started_at, due_at, ended_at, worker_id, failure_message, flow_id, record
  )
  select
    id, partition, key, namespace, task, lane, class, state, priority, attempt_number, failure_count, created_at,
    changed_at, started_at, due_at, ended_at, worker_id, failure_message, flow_id, record
  from execution order by rowid;

  drop table execution;

  alter table moved_execution rename to execution;
`

export const migrations: readonly string[] = [
  tables,
  flows,
  journals,
  processes,
  dependencies,
  facts,
  children,
  admission,
]
