/** The tables and partitions of limits, lanes and workers: a table for each record type whose ids are names. And those of streams, schedules and budgets. */
import { scheduleTable } from './schedule-table.ts'
import { streams } from './stream-tables.ts'
import { budgets } from './budget-tables.ts'
import { namedTable } from './named-table.ts'
import { SERVER_LIMIT_PARTITIONS, partitionNumber, partitionsOf } from '../../partitions.ts'

const worker = namedTable(
  'worker',
  `worker_id text not null,
    namespace text not null,
    phase text not null,
    host text not null,
    pid integer not null,
    slots integer not null check (slots >= 0),
    running_count integer not null check (running_count >= 0),
    started_at bigint not null,
    heartbeat_at bigint not null,
    constraint worker_phase_is_known check (phase in ('running', 'draining', 'lost', 'dead'))`,
)

const share = namedTable(
  'share',
  `lane text not null,
    key text not null,
    next_turn bigint not null check (next_turn >= 0)`,
)

const rotation = namedTable('rotation', `turn bigint not null check (turn >= 0)`)

const lane = namedTable(
  'lane',
  `version bigint not null check (version >= 1),
    state text not null check (state in ('active', 'paused', 'draining', 'disabled')),
    changed_at bigint not null`,
)

const limit = namedTable(
  'limit_definition',
  `rate_count bigint check (rate_count > 0),
    rate_window_ms bigint check (rate_window_ms > 0),
    concurrency bigint check (concurrency > 0),
    version integer not null,
    changed_at bigint not null,
    changed_by text,
    deleted_at bigint,
    constraint limit_rate_is_whole check ((rate_count is null) = (rate_window_ms is null))`,
)

const gauge = namedTable(
  'gauge',
  `limit_name text collate "C" not null,
    key text not null,
    held_count bigint not null check (held_count >= 0),
    holder_count integer not null check (holder_count >= 0),
    held_until bigint`,
)

const holding = namedTable(
  'holding',
  `limit_name text collate "C" not null,
    key text not null,
    worker_instance_id text not null,
    permit_count bigint not null check (permit_count >= 0),
    expires_at bigint not null`,
)

const gate = namedTable(
  'gate',
  `limit_name text collate "C" not null,
    key text not null,
    cause text not null,
    open_at bigint not null,
    constraint gate_cause_is_known check (cause in ('rate', 'concurrency', 'held', 'unknown', 'holders', 'budget'))`,
)

const consumer = namedTable(
  'consumer',
  `namespace text not null,
    name text not null,
    member_count integer not null check (member_count >= 0),
    handled_count bigint not null check (handled_count >= 0),
    changed_at bigint not null`,
)

const duties = namedTable('duties', 'engine_count integer not null check (engine_count >= 0)')

/** A store that is in use gets the partitions of the new families. A new store gets all its partitions with its settings. */
const shapingKey = namedTable(
  'shaping_key',
  `namespace text not null,
    kind text not null check (kind in ('debounce', 'throttle', 'singleton', 'order')),
    task text,
    key text not null,
    current_id text,
    until bigint,
    held_since bigint`,
)

const auditEntry = namedTable(
  'audit_entry',
  `sequence bigint not null,
    at bigint not null,
    credential text not null,
    role text not null check (role in ('viewer', 'worker', 'operator', 'admin')),
    namespace text,
    action text not null,
    reason text,
    status bigint not null`,
)

const partitions = `
  insert into $schema.partition (number, name)
    select p.number, p.name from (values ${partitionRows()}) as p (number, name)
    where exists (select 1 from $schema.meta where name = 'data_version')
    on conflict do nothing;

  insert into $schema.meta (name, value)
    select 'limit_partitions', '${SERVER_LIMIT_PARTITIONS}'
    where exists (select 1 from $schema.meta where name = 'data_version')
    on conflict do nothing;
`

function partitionRows(): string {
  const settings = { executionPartitions: 0, limitPartitions: SERVER_LIMIT_PARTITIONS, indexedTags: [] }
  return partitionsOf(settings, ['q', 'm'])
    .map((partition) => `(${partitionNumber(partition)}, '${partition}')`)
    .join(', ')
}

export const admission = [
  worker,
  share,
  rotation,
  lane,
  limit,
  gauge,
  holding,
  gate,
  duties,
  consumer,
  streams,
  scheduleTable,
  budgets,
  shapingKey,
  auditEntry,
  partitions,
].join('')

/** The events of workers, lanes, schedules and budgets, behind those of earlier steps. */
export const admissionEvents =
  ',worker_registered,worker_unregistered,worker_draining,worker_lost,worker_dead,lane_changed' +
  ',schedule_changed,schedule_skipped,budget_changed,budget_warned,budget_breached,order_continued'
