/** The tables of limits, lanes and workers: one for each record type whose ids are names. And those of streams, schedules and budgets. */
import { scheduleTable } from './schedule-table.ts'
import { streams } from './stream-tables.ts'
import { budgets } from './budget-tables.ts'
import { namedTable } from './named-table.ts'

const worker = namedTable(
  'worker',
  `worker_id text not null,
    namespace text not null,
    phase text not null check (phase in ('running', 'draining', 'lost', 'dead')),
    host text not null,
    pid integer not null,
    slots integer not null check (slots >= 0),
    running_count integer not null check (running_count >= 0),
    started_at integer not null,
    heartbeat_at integer not null`,
)

const share = namedTable(
  'share',
  `lane text not null,
    key text not null,
    next_turn integer not null check (next_turn >= 0)`,
)

const rotation = namedTable('rotation', `turn integer not null check (turn >= 0)`)

const lane = namedTable(
  'lane',
  `version integer not null check (version >= 1),
    state text not null check (state in ('active', 'paused', 'draining', 'disabled')),
    changed_at integer not null`,
)

const limit = namedTable(
  'limit_definition',
  `rate_count integer check (rate_count > 0),
    rate_window_ms integer check (rate_window_ms > 0 and (rate_count is null) = (rate_window_ms is null)),
    concurrency integer check (concurrency > 0),
    version integer not null,
    changed_at integer not null,
    changed_by text,
    deleted_at integer`,
)

const gauge = namedTable(
  'gauge',
  `limit_name text not null,
    key text not null,
    held_count integer not null check (held_count >= 0),
    holder_count integer not null check (holder_count >= 0),
    held_until integer`,
)

const holding = namedTable(
  'holding',
  `limit_name text not null,
    key text not null,
    worker_instance_id text not null,
    permit_count integer not null check (permit_count >= 0),
    expires_at integer not null`,
)

const gate = namedTable(
  'gate',
  `limit_name text not null,
    key text not null,
    cause text not null check (cause in ('rate', 'concurrency', 'held', 'unknown', 'holders', 'budget')),
    open_at integer not null`,
)

const consumer = namedTable(
  'consumer',
  `namespace text not null,
    name text not null,
    member_count integer not null check (member_count >= 0),
    handled_count integer not null check (handled_count >= 0),
    changed_at integer not null`,
)

const duties = namedTable('duties', 'engine_count integer not null check (engine_count >= 0)')

const shapingKey = namedTable(
  'shaping_key',
  `namespace text not null,
    kind text not null check (kind in ('debounce', 'throttle', 'singleton', 'order')),
    task text,
    key text not null,
    current_id text,
    until integer,
    held_since integer`,
)

const auditEntry = namedTable(
  'audit_entry',
  `sequence integer not null,
    at integer not null,
    credential text not null,
    role text not null check (role in ('viewer', 'worker', 'operator', 'admin')),
    namespace text,
    action text not null,
    reason text,
    status integer not null`,
)

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
].join('')
