/**
 * The tables of a store, as a list of steps. Released steps never change: existing databases have run them. A change is
 * a new step at the end. The schema version of a store is the number of steps that it has run.
 */

import { admission, admissionEvents } from './admission-tables.ts'

export interface Migration {
  /** Shown by a dry run. */
  readonly title: string
  /** Statements in which `$schema` stands for the quoted name of the schema. */
  readonly sql: string
}

/**
 * - Texts are compared by their bytes (`collate "C"`), as everywhere else in the engine, and faster than by a language.
 * - An execution's row changes with every step of its life and none of its columns that change is indexed, so a change
 *   stays on its page, which is left half empty for it; index entries and payloads have tables of their own.
 * - The events of a batch are one row, which costs a tenth of a row for each; a view shows them one by one.
 * - What is short-lived is vacuumed early and without pauses: the tables would otherwise grow faster than they are cleaned.
 */
const tables = `
  create table $schema.meta (
    name text collate "C" not null primary key,
    value text not null
  );

  create table $schema.partition (
    number integer not null primary key,
    name text collate "C" not null unique,
    last_sequence bigint not null default 0 check (last_sequence >= 0)
  ) with (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

  create table $schema.execution (
    id text collate "C" not null,
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
    created_at bigint not null,
    changed_at bigint not null,
    started_at bigint,
    due_at bigint,
    ended_at bigint,
    worker_id text,
    failure_message text,
    record text not null,
    primary key (id, partition),
    constraint execution_state_is_whole check (
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
    constraint execution_attempt_has_worker check ((attempt_number is null) = (worker_id is null))
  ) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
  );

  create table $schema.attempt (
    id text collate "C" not null,
    partition integer not null,
    execution_id text collate "C" not null,
    number integer not null check (number > 0),
    kind text not null,
    outcome text not null,
    started_at bigint not null,
    ended_at bigint not null,
    worker_id text not null,
    failure_category text,
    failure_message text,
    record text not null,
    primary key (id, partition)
  );

  create table $schema.queue (
    id text collate "C" not null,
    partition integer not null,
    lane text not null,
    class text not null,
    created_at bigint not null,
    record text not null,
    primary key (id, partition)
  );

  create table $schema.entry (
    partition integer not null,
    name text collate "C" not null,
    score bigint not null,
    id text collate "C" not null,
    primary key (partition, name, score, id)
  ) with (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0
  );

  create table $schema.blob (
    partition integer not null,
    key text collate "C" not null,
    bytes bytea not null,
    primary key (key, partition)
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

  create table $schema.event_batch (
    partition integer not null,
    first_sequence bigint not null check (first_sequence > 0),
    last_sequence bigint not null,
    at bigint not null,
    records text not null,
    primary key (partition, last_sequence),
    check (first_sequence <= last_sequence)
  ) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

  create view $schema.event as
    select
      b.partition,
      b.first_sequence + e.place - 1 as sequence,
      b.at,
      ('{execution_created,execution_replaced,attempt_started,attempt_failed,lease_expired,lease_revoked,'
        'execution_released,execution_delayed,execution_promoted,cancel_requested,execution_ended,execution_replayed,'
        'execution_purged,progress_updated,priority_changed,tags_set}'::text[])[(e.cells ->> 0)::integer + 1] as type,
      e.cells ->> 2 as execution_id,
      e.cells ->> 3 as namespace,
      e.cells ->> 4 as task,
      e.cells ->> 5 as lane,
      nullif(e.cells ->> 7, 'false')::integer as attempt_number,
      ('{completed,failed,cancelled,expired,skipped}'::text[])[nullif(e.cells ->> 11, 'false')::integer + 1] as outcome,
      case json_typeof(e.cells -> 9) when 'string' then e.cells ->> 9 end as worker_id,
      case json_typeof(e.cells -> 13) when 'string' then e.cells ->> 13 end as reason
    from $schema.event_batch b
    cross join lateral json_array_elements(
      -- Characters that no text can hold.
      regexp_replace(b.records, '\\\\u(0000|d[89a-f]..)', '\\\\ufffd', 'g')::json
    ) with ordinality as e (cells, place);

  create table $schema.inbox (
    id bigint generated always as identity primary key,
    partition integer not null,
    execution_id text collate "C" not null,
    call text not null,
    payload bytea,
    staged_at timestamptz not null default now(),
    failure text
  ) with (autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

  create index inbox_pending on $schema.inbox (partition, id) where failure is null;
`

/**
 * - What has ended may still be due where others depend on it.
 * - A flow's row changes with every step of its members, an edge's once: they too stay on their pages.
 */
const flows = `
  create table $schema.flow (
    id text collate "C" not null,
    partition integer not null,
    key text,
    namespace text not null,
    name text not null,
    state text not null,
    phase text not null,
    member_count integer not null check (member_count >= 0),
    edge_count integer not null check (edge_count >= 0),
    created_at bigint not null,
    changed_at bigint not null,
    due_at bigint,
    ended_at bigint,
    record text not null,
    primary key (id, partition),
    constraint flow_state_is_known check (state in ('open', 'running', 'blocked', 'completed', 'failed', 'cancelled')),
    constraint flow_state_is_whole check (
      case phase
        when 'held' then ended_at is null and state <> 'cancelled'
        when 'open' then ended_at is null and state <> 'cancelled'
        when 'sealed' then ended_at is null and state <> 'cancelled'
        when 'ended' then ended_at is not null and state in ('completed', 'failed')
        when 'cancelled' then ended_at is not null and state = 'cancelled'
        else false
      end
    )
  ) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
  );

  create table $schema.edge (
    id text collate "C" not null,
    partition integer not null,
    flow_id text collate "C" not null,
    upstream_id text collate "C" not null,
    downstream_id text collate "C" not null,
    state text not null,
    input_name text,
    created_at bigint not null,
    resolved_at bigint,
    record text not null,
    primary key (id, partition),
    constraint edge_state_is_known check (state in ('open', 'satisfied', 'impossible')),
    constraint edge_state_is_whole check ((state = 'open') = (resolved_at is null)),
    constraint edge_joins_two check (upstream_id <> downstream_id)
  ) with (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
  );

  alter table $schema.execution
    add column flow_id text collate "C",
    drop constraint execution_state_is_whole,
    add constraint execution_state_is_whole check (
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
    add constraint execution_ended_is_due_for_a_flow check (ended_at is null or due_at is null or flow_id is not null);

  create or replace view $schema.event as
    select
      b.partition,
      b.first_sequence + e.place - 1 as sequence,
      b.at,
      ('{execution_created,execution_replaced,attempt_started,attempt_failed,lease_expired,lease_revoked,'
        'execution_released,execution_delayed,execution_promoted,cancel_requested,execution_ended,execution_replayed,'
        'execution_purged,progress_updated,priority_changed,tags_set,execution_blocked,execution_unblocked,'
        'flow_created,flow_sealed,flow_ended,flow_cancelled,flow_reopened,flow_purged}'::text[])[(e.cells ->> 0)::integer + 1] as type,
      e.cells ->> 2 as execution_id,
      e.cells ->> 3 as namespace,
      e.cells ->> 4 as task,
      e.cells ->> 5 as lane,
      nullif(e.cells ->> 7, 'false')::integer as attempt_number,
      ('{completed,failed,cancelled,expired,skipped}'::text[])[nullif(e.cells ->> 11, 'false')::integer + 1] as outcome,
      case json_typeof(e.cells -> 9) when 'string' then e.cells ->> 9 end as worker_id,
      case json_typeof(e.cells -> 13) when 'string' then e.cells ->> 13 end as reason,
      case json_typeof(e.cells -> 18) when 'string' then e.cells ->> 18 end as flow_id
    from $schema.event_batch b
    cross join lateral json_array_elements(
      -- Characters that no text can hold.
      regexp_replace(b.records, '\\\\u(0000|d[89a-f]..)', '\\\\ufffd', 'g')::json
    ) with ordinality as e (cells, place);
`

/** The view of the event log. Types that were added later follow a comma. */
function eventView(furtherTypes: string): string {
  return `create or replace view $schema.event as
    select
      b.partition,
      b.first_sequence + e.place - 1 as sequence,
      b.at,
      ('{execution_created,execution_replaced,attempt_started,attempt_failed,lease_expired,lease_revoked,'
        'execution_released,execution_delayed,execution_promoted,cancel_requested,execution_ended,execution_replayed,'
        'execution_purged,progress_updated,priority_changed,tags_set,execution_blocked,execution_unblocked,'
        'flow_created,flow_sealed,flow_ended,flow_cancelled,flow_reopened,flow_purged,step_recorded,execution_suspended,'
        'execution_resumed,wait_reminded,wait_escalated,waitpoint_opened,waitpoint_closed,signal_received${furtherTypes}}'::text[])[(e.cells ->> 0)::integer + 1] as type,
      e.cells ->> 2 as execution_id,
      e.cells ->> 3 as namespace,
      e.cells ->> 4 as task,
      e.cells ->> 5 as lane,
      nullif(e.cells ->> 7, 'false')::integer as attempt_number,
      ('{completed,failed,cancelled,expired,skipped}'::text[])[nullif(e.cells ->> 11, 'false')::integer + 1] as outcome,
      case json_typeof(e.cells -> 9) when 'string' then e.cells ->> 9 end as worker_id,
      case json_typeof(e.cells -> 13) when 'string' then e.cells ->> 13 end as reason,
      case json_typeof(e.cells -> 18) when 'string' then e.cells ->> 18 end as flow_id,
      case json_typeof(e.cells -> 19) when 'string' then e.cells ->> 19 end as step,
      case json_typeof(e.cells -> 20) when 'string' then e.cells ->> 20 end as waitpoint,
      case json_typeof(e.cells -> 21) when 'string' then e.cells ->> 21 end as signal,
      case json_typeof(e.cells -> 22) when 'string' then e.cells ->> 22 end as effect
    from $schema.event_batch b
    cross join lateral json_array_elements(
      -- Characters that no text can hold.
      regexp_replace(b.records, '\\\\u(0000|d[89a-f]..)', '\\\\ufffd', 'g')::json
    ) with ordinality as e (cells, place);
`
}

/** Steps, waitpoints and signals: most rows are written once, those of waitpoints a few times. */
const journals = `
  create table $schema.step (
    id text collate "C" not null,
    partition integer not null,
    execution_id text collate "C" not null,
    kind text not null,
    name text not null,
    position integer not null check (position >= 0),
    phase text not null,
    attempt_count integer not null check (attempt_count >= 0),
    created_at bigint not null,
    ended_at bigint,
    record text not null,
    primary key (id, partition),
    constraint step_kind_is_known check (kind in ('call', 'now', 'waitpoint', 'sleep', 'wait')),
    constraint step_phase_is_known check (phase in ('completed', 'failed', 'retrying', 'open', 'closed')),
    constraint step_phase_is_whole check ((phase = 'open') = (ended_at is null)),
    constraint step_phase_is_of_its_kind check ((phase in ('open', 'closed')) = (kind in ('sleep', 'wait')))
  ) with (
    fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
  );

  create table $schema.waitpoint (
    id text collate "C" not null,
    partition integer not null,
    execution_id text collate "C" not null,
    target text not null,
    signal_count integer not null check (signal_count >= 0),
    created_at bigint not null,
    closed_at bigint,
    close_reason text,
    record text not null,
    primary key (id, partition),
    constraint waitpoint_is_whole check ((closed_at is null) = (close_reason is null))
  ) with (
    fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
  );

  create table $schema.signal (
    id text collate "C" not null,
    partition integer not null,
    execution_id text collate "C" not null,
    target text not null,
    sequence integer not null check (sequence > 0),
    name text not null,
    source_type text not null,
    source_identity text not null,
    effect text not null,
    accepted_at bigint not null,
    record text not null,
    primary key (id, partition),
    constraint signal_source_is_known check (source_type in ('token', 'caller', 'operator', 'engine')),
    constraint signal_effect_is_known check (
      effect in ('resumed', 'counted', 'counted_before', 'not_awaited', 'buffered')
    )
  ) with (
    fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
  );

  ${eventView('')}`

/** Processes that use the store, with the levels that they can run. */
const processes = `
  create table $schema.process (
    id text collate "C" not null primary key,
    host text not null,
    pid integer not null,
    version text not null,
    level_min integer not null,
    level_max integer not null,
    announced_at bigint not null
  );
`

/** A member that waits for other members has the state `waiting_dependencies`. */
const dependencies = `
  alter table $schema.execution drop constraint execution_state_is_whole;

  update $schema.execution set state = 'waiting_dependencies' where state = 'waiting_children';

  alter table $schema.execution
    add constraint execution_state_is_whole check (
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
    );
`

/** Names that concern the store as a whole, such as the ids of retired signing keys. */
const facts = `
  create table $schema.fact (
    kind text collate "C" not null,
    name text collate "C" not null,
    primary key (kind, name)
  );
`

/** Executions that undo their steps have an event of their own. */
const unwinding = eventView(',execution_unwinding')

/** Follow-ups have events of their own. */
const FOLLOW_UP_EVENTS = ',execution_unwinding,follow_up_set,follow_up_started,follow_up_dropped'
const followUps = eventView(FOLLOW_UP_EVENTS)

/**
 * Children of a handler are steps, and so are the waits for them. An ended execution may be due while its children are to be
 * cancelled.
 */
const children = `
  alter table $schema.step
    drop constraint step_kind_is_known,
    add constraint step_kind_is_known check (
      kind in ('call', 'now', 'waitpoint', 'sleep', 'wait', 'child', 'join')
    ),
    drop constraint step_phase_is_of_its_kind,
    add constraint step_phase_is_of_its_kind check (
      case kind
        when 'child' then phase in ('open', 'completed', 'failed')
        else (phase in ('open', 'closed')) = (kind in ('sleep', 'wait', 'join'))
      end
    );

  alter table $schema.execution drop constraint execution_ended_is_due_for_a_flow;
`

export const migrations: readonly Migration[] = [
  { title: 'create the tables of a store', sql: tables },
  { title: 'add flows and the edges between their members', sql: flows },
  { title: 'add what executions remember and wait for', sql: journals },
  { title: 'add the processes that use the store', sql: processes },
  { title: 'rename the state waiting_children to waiting_dependencies', sql: dependencies },
  { title: 'add facts that concern the store as a whole', sql: facts },
  { title: 'add the event of executions that undo their steps', sql: unwinding },
  { title: 'add the events of follow-ups', sql: followUps },
  { title: 'add the children of a handler', sql: children },
  { title: 'add limits, lanes and workers', sql: admission + eventView(FOLLOW_UP_EVENTS + admissionEvents) },
]
