/**
 * The columns of records in tables, beside the packed record. They are derived at every write, for queries and
 * constraints; a store reads only the packed record.
 */
import { flowDueAt, publicFlowState } from '../../kernel/rules/flow-state.ts'
import { dueAt, publicState } from '../../kernel/index.ts'
import type {
  Account,
  Attempt,
  AuditEntry,
  Consumer,
  Budget,
  Charge,
  Edge,
  Execution,
  FabricEvent,
  Flow,
  Gate,
  Gauge,
  Holding,
  Limit,
  PastPeriod,
  Queue,
  RecordType,
  RecordTypes,
  Lane,
  Reservation,
  Rotation,
  Schedule,
  ShapingKey,
  Share,
  Signal,
  Step,
  Waitpoint,
  Worker,
  Duties,
  FrameChunk,
  Stream,
} from '../../kernel/index.ts'

export interface Column<T> {
  readonly name: string
  /** An integer holds up to 53 bits. */
  readonly type: 'text' | 'integer'
  readonly value: (of: T) => string | number | undefined
}

const executionColumns: readonly Column<Execution>[] = [
  { name: 'key', type: 'text', value: (execution) => execution.key },
  { name: 'namespace', type: 'text', value: (execution) => execution.namespace },
  { name: 'task', type: 'text', value: (execution) => execution.task },
  { name: 'lane', type: 'text', value: (execution) => execution.lane },
  { name: 'class', type: 'text', value: (execution) => execution.class },
  { name: 'state', type: 'text', value: (execution) => publicState(execution.state) },
  { name: 'priority', type: 'integer', value: (execution) => execution.priority },
  { name: 'attempt_number', type: 'integer', value: (execution) => execution.attempt?.number },
  { name: 'failure_count', type: 'integer', value: (execution) => execution.failureCount },
  { name: 'created_at', type: 'integer', value: (execution) => execution.createdAt },
  { name: 'changed_at', type: 'integer', value: (execution) => execution.changedAt },
  { name: 'started_at', type: 'integer', value: (execution) => execution.startedAt },
  { name: 'due_at', type: 'integer', value: (execution) => dueAt(execution) },
  {
    name: 'ended_at',
    type: 'integer',
    value: ({ state }) => (state.phase === 'ended' ? state.at : undefined),
  },
  { name: 'worker_id', type: 'text', value: (execution) => execution.attempt?.workerId },
  { name: 'failure_message', type: 'text', value: (execution) => execution.failure?.message },
  { name: 'flow_id', type: 'text', value: (execution) => execution.member?.flowId },
]

const attemptColumns: readonly Column<Attempt>[] = [
  { name: 'execution_id', type: 'text', value: (attempt) => attempt.executionId },
  { name: 'number', type: 'integer', value: (attempt) => attempt.number },
  { name: 'kind', type: 'text', value: (attempt) => attempt.kind },
  { name: 'outcome', type: 'text', value: (attempt) => attempt.outcome },
  { name: 'started_at', type: 'integer', value: (attempt) => attempt.startedAt },
  { name: 'ended_at', type: 'integer', value: (attempt) => attempt.endedAt },
  { name: 'worker_id', type: 'text', value: (attempt) => attempt.workerId },
  { name: 'failure_category', type: 'text', value: (attempt) => attempt.failure?.category },
  { name: 'failure_message', type: 'text', value: (attempt) => attempt.failure?.message },
]

const queueColumns: readonly Column<Queue>[] = [
  { name: 'lane', type: 'text', value: (queue) => queue.lane },
  { name: 'class', type: 'text', value: (queue) => queue.class },
  { name: 'created_at', type: 'integer', value: (queue) => queue.createdAt },
]

const flowColumns: readonly Column<Flow>[] = [
  { name: 'key', type: 'text', value: (flow) => flow.key },
  { name: 'namespace', type: 'text', value: (flow) => flow.namespace },
  { name: 'name', type: 'text', value: (flow) => flow.name },
  { name: 'state', type: 'text', value: (flow) => publicFlowState(flow) },
  { name: 'phase', type: 'text', value: (flow) => flow.state.phase },
  { name: 'member_count', type: 'integer', value: (flow) => flow.memberCount },
  { name: 'edge_count', type: 'integer', value: (flow) => flow.edgeCount },
  { name: 'created_at', type: 'integer', value: (flow) => flow.createdAt },
  { name: 'changed_at', type: 'integer', value: (flow) => flow.changedAt },
  { name: 'due_at', type: 'integer', value: (flow) => flowDueAt(flow) },
  {
    name: 'ended_at',
    type: 'integer',
    value: ({ state }) => (state.phase === 'ended' || state.phase === 'cancelled' ? state.at : undefined),
  },
]

const edgeColumns: readonly Column<Edge>[] = [
  { name: 'flow_id', type: 'text', value: (edge) => edge.flowId },
  { name: 'upstream_id', type: 'text', value: (edge) => edge.upstreamId },
  { name: 'downstream_id', type: 'text', value: (edge) => edge.downstreamId },
  { name: 'state', type: 'text', value: (edge) => edge.state },
  { name: 'input_name', type: 'text', value: ({ hands }) => (hands?.as === 'input' ? hands.name : undefined) },
  { name: 'created_at', type: 'integer', value: (edge) => edge.createdAt },
  { name: 'resolved_at', type: 'integer', value: (edge) => edge.resolvedAt },
]

const stepColumns: readonly Column<Step>[] = [
  { name: 'execution_id', type: 'text', value: (step) => step.executionId },
  { name: 'kind', type: 'text', value: (step) => step.kind },
  { name: 'name', type: 'text', value: (step) => step.name },
  { name: 'position', type: 'integer', value: (step) => step.position },
  { name: 'phase', type: 'text', value: (step) => step.state.phase },
  { name: 'attempt_count', type: 'integer', value: (step) => step.attemptCount },
  { name: 'created_at', type: 'integer', value: (step) => step.createdAt },
  { name: 'ended_at', type: 'integer', value: ({ state }) => (state.phase === 'open' ? undefined : state.at) },
]

const waitpointColumns: readonly Column<Waitpoint>[] = [
  { name: 'execution_id', type: 'text', value: (waitpoint) => waitpoint.executionId },
  { name: 'target', type: 'text', value: (waitpoint) => waitpoint.target },
  { name: 'signal_count', type: 'integer', value: (waitpoint) => waitpoint.signalCount },
  { name: 'created_at', type: 'integer', value: (waitpoint) => waitpoint.createdAt },
  { name: 'closed_at', type: 'integer', value: (waitpoint) => waitpoint.closedAt },
  { name: 'close_reason', type: 'text', value: (waitpoint) => waitpoint.closeReason },
]

const signalColumns: readonly Column<Signal>[] = [
  { name: 'execution_id', type: 'text', value: (signal) => signal.executionId },
  { name: 'target', type: 'text', value: (signal) => signal.target },
  { name: 'sequence', type: 'integer', value: (signal) => signal.sequence },
  { name: 'name', type: 'text', value: (signal) => signal.name },
  { name: 'source_type', type: 'text', value: (signal) => signal.source.type },
  { name: 'source_identity', type: 'text', value: (signal) => signal.source.identity },
  { name: 'effect', type: 'text', value: (signal) => signal.effect },
  { name: 'accepted_at', type: 'integer', value: (signal) => signal.at },
]

const workerColumns: readonly Column<Worker>[] = [
  { name: 'worker_id', type: 'text', value: (worker) => worker.workerId },
  { name: 'namespace', type: 'text', value: (worker) => worker.namespace },
  { name: 'phase', type: 'text', value: (worker) => worker.state.phase },
  { name: 'host', type: 'text', value: (worker) => worker.host },
  { name: 'pid', type: 'integer', value: (worker) => worker.pid },
  { name: 'slots', type: 'integer', value: (worker) => worker.slots },
  { name: 'running_count', type: 'integer', value: (worker) => worker.runningCount },
  { name: 'started_at', type: 'integer', value: (worker) => worker.startedAt },
  { name: 'heartbeat_at', type: 'integer', value: (worker) => worker.heartbeatAt },
]

const shareColumns: readonly Column<Share>[] = [
  { name: 'lane', type: 'text', value: (share) => share.lane },
  { name: 'key', type: 'text', value: (share) => share.key },
  { name: 'next_turn', type: 'integer', value: (share) => share.nextTurn },
]

const rotationColumns: readonly Column<Rotation>[] = [
  { name: 'turn', type: 'integer', value: (rotation) => rotation.turn },
]

const laneColumns: readonly Column<Lane>[] = [
  { name: 'version', type: 'integer', value: (lane) => lane.version },
  { name: 'state', type: 'text', value: (lane) => lane.hold?.state ?? 'active' },
  { name: 'changed_at', type: 'integer', value: (lane) => lane.changedAt },
]

const limitColumns: readonly Column<Limit>[] = [
  { name: 'rate_count', type: 'integer', value: ({ rate }) => rate?.count },
  { name: 'rate_window_ms', type: 'integer', value: ({ rate }) => rate?.windowMs },
  { name: 'concurrency', type: 'integer', value: (limit) => limit.concurrency },
  { name: 'version', type: 'integer', value: (limit) => limit.version },
  { name: 'changed_at', type: 'integer', value: (limit) => limit.changedAt },
  { name: 'changed_by', type: 'text', value: (limit) => limit.changedBy },
  { name: 'deleted_at', type: 'integer', value: (limit) => limit.deletedAt },
]

const gaugeColumns: readonly Column<Gauge>[] = [
  { name: 'limit_name', type: 'text', value: (gauge) => gauge.limit },
  { name: 'key', type: 'text', value: (gauge) => gauge.key },
  { name: 'held_count', type: 'integer', value: (gauge) => gauge.heldCount },
  { name: 'holder_count', type: 'integer', value: (gauge) => gauge.holderCount },
  { name: 'held_until', type: 'integer', value: (gauge) => gauge.heldUntil },
]

const holdingColumns: readonly Column<Holding>[] = [
  { name: 'limit_name', type: 'text', value: (holding) => holding.limit },
  { name: 'key', type: 'text', value: (holding) => holding.key },
  { name: 'worker_instance_id', type: 'text', value: (holding) => holding.workerInstanceId },
  { name: 'permit_count', type: 'integer', value: (holding) => holding.count },
  { name: 'expires_at', type: 'integer', value: (holding) => holding.expiresAt },
]

const gateColumns: readonly Column<Gate>[] = [
  { name: 'limit_name', type: 'text', value: (gate) => gate.limit },
  { name: 'key', type: 'text', value: (gate) => gate.key },
  { name: 'cause', type: 'text', value: (gate) => gate.cause },
  { name: 'open_at', type: 'integer', value: (gate) => gate.until },
]

const dutiesColumns: readonly Column<Duties>[] = [
  { name: 'engine_count', type: 'integer', value: (duties) => duties.engines.length },
]

const streamColumns: readonly Column<Stream>[] = [
  { name: 'execution_id', type: 'text', value: (stream) => stream.executionId },
  { name: 'first_sequence', type: 'integer', value: (stream) => stream.first },
  { name: 'next_sequence', type: 'integer', value: (stream) => stream.next },
  { name: 'size', type: 'integer', value: (stream) => stream.size },
  { name: 'summary_version', type: 'integer', value: ({ summary }) => summary?.version },
]

const frameChunkColumns: readonly Column<FrameChunk>[] = [
  { name: 'execution_id', type: 'text', value: (chunk) => chunk.executionId },
  { name: 'number', type: 'integer', value: (chunk) => chunk.number },
  { name: 'attempt_number', type: 'integer', value: (chunk) => chunk.attempt },
  { name: 'first_sequence', type: 'integer', value: (chunk) => chunk.first },
  { name: 'frame_count', type: 'integer', value: (chunk) => chunk.count },
  { name: 'size', type: 'integer', value: (chunk) => chunk.size },
]

const scheduleColumns: readonly Column<Schedule>[] = [
  { name: 'namespace', type: 'text', value: (schedule) => schedule.namespace },
  { name: 'name', type: 'text', value: (schedule) => schedule.name },
  { name: 'owner', type: 'text', value: (schedule) => schedule.owner },
  { name: 'task', type: 'text', value: (schedule) => schedule.work.task },
  { name: 'is_paused', type: 'integer', value: (schedule) => (schedule.pause === undefined ? 0 : 1) },
  { name: 'next_at', type: 'integer', value: (schedule) => schedule.planned[0]?.at },
  { name: 'fired_at', type: 'integer', value: (schedule) => schedule.fired?.firedAt },
  { name: 'fired_count', type: 'integer', value: (schedule) => schedule.firedCount },
]

const consumerColumns: readonly Column<Consumer>[] = [
  { name: 'namespace', type: 'text', value: (consumer) => consumer.namespace },
  { name: 'name', type: 'text', value: (consumer) => consumer.name },
  { name: 'member_count', type: 'integer', value: (consumer) => consumer.members.length },
  { name: 'handled_count', type: 'integer', value: (consumer) => consumer.handledCount },
  { name: 'changed_at', type: 'integer', value: (consumer) => consumer.changedAt },
]

const budgetColumns: readonly Column<Budget>[] = [
  { name: 'root', type: 'text', value: (budget) => budget.root },
  { name: 'name', type: 'text', value: (budget) => budget.name },
  { name: 'parent', type: 'text', value: (budget) => budget.parent },
  { name: 'on_breach', type: 'text', value: (budget) => budget.onBreach },
  { name: 'next_reset_at', type: 'integer', value: (budget) => budget.boundaries[0] },
  { name: 'is_frozen', type: 'integer', value: (budget) => (budget.freeze === undefined ? 0 : 1) },
  { name: 'version', type: 'integer', value: (budget) => budget.version },
  { name: 'changed_at', type: 'integer', value: (budget) => budget.changedAt },
]

const accountColumns: readonly Column<Account>[] = [
  { name: 'root', type: 'text', value: (account) => account.root },
  { name: 'name', type: 'text', value: (account) => account.name },
  { name: 'key', type: 'text', value: (account) => account.key },
  { name: 'period', type: 'integer', value: (account) => account.period },
  { name: 'charge_count', type: 'integer', value: (account) => account.totalCount },
  { name: 'reservation_count', type: 'integer', value: (account) => account.reservationCount },
  { name: 'breach_count', type: 'integer', value: (account) => account.breachCount },
]

const reservationColumns: readonly Column<Reservation>[] = [
  { name: 'root', type: 'text', value: (reservation) => reservation.root },
  { name: 'execution_id', type: 'text', value: (reservation) => reservation.spender.executionId },
  { name: 'expires_at', type: 'integer', value: (reservation) => reservation.expiresAt },
]

const chargeColumns: readonly Column<Charge>[] = [
  { name: 'root', type: 'text', value: (charge) => charge.root },
  { name: 'execution_id', type: 'text', value: (charge) => charge.spender.executionId },
  { name: 'task', type: 'text', value: (charge) => charge.spender.task },
  { name: 'at', type: 'integer', value: (charge) => charge.at },
]

const pastPeriodColumns: readonly Column<PastPeriod>[] = [
  { name: 'root', type: 'text', value: (past) => past.root },
  { name: 'name', type: 'text', value: (past) => past.name },
  { name: 'key', type: 'text', value: (past) => past.key },
  { name: 'period', type: 'integer', value: (past) => past.period },
  { name: 'since', type: 'integer', value: (past) => past.since },
]

const shapingKeyColumns: readonly Column<ShapingKey>[] = [
  { name: 'namespace', type: 'text', value: (key) => key.namespace },
  { name: 'kind', type: 'text', value: (key) => key.kind },
  { name: 'task', type: 'text', value: (key) => key.task },
  { name: 'key', type: 'text', value: (key) => key.key },
  { name: 'current_id', type: 'text', value: (key) => key.current },
  { name: 'until', type: 'integer', value: (key) => key.until },
  { name: 'held_since', type: 'integer', value: (key) => key.heldSince },
]

const auditEntryColumns: readonly Column<AuditEntry>[] = [
  { name: 'sequence', type: 'integer', value: (entry) => entry.sequence },
  { name: 'at', type: 'integer', value: (entry) => entry.at },
  { name: 'credential', type: 'text', value: (entry) => entry.credential },
  { name: 'role', type: 'text', value: (entry) => entry.role },
  { name: 'namespace', type: 'text', value: (entry) => entry.namespace },
  { name: 'action', type: 'text', value: (entry) => entry.action },
  { name: 'reason', type: 'text', value: (entry) => entry.reason },
  { name: 'status', type: 'integer', value: (entry) => entry.status },
]

/**
 * The columns of each record type's table, which has the name of the type and also the columns `partition`, `id` and
 * `record`.
 */
export const recordColumns: { readonly [T in RecordType]: readonly Column<RecordTypes[T]>[] } = {
  execution: executionColumns,
  attempt: attemptColumns,
  queue: queueColumns,
  flow: flowColumns,
  edge: edgeColumns,
  step: stepColumns,
  waitpoint: waitpointColumns,
  signal: signalColumns,
  worker: workerColumns,
  share: shareColumns,
  rotation: rotationColumns,
  lane: laneColumns,
  limit_definition: limitColumns,
  gauge: gaugeColumns,
  holding: holdingColumns,
  gate: gateColumns,
  duties: dutiesColumns,
  stream: streamColumns,
  frame_chunk: frameChunkColumns,
  schedule: scheduleColumns,
  consumer: consumerColumns,
  budget: budgetColumns,
  account: accountColumns,
  reservation: reservationColumns,
  charge: chargeColumns,
  past_period: pastPeriodColumns,
  shaping_key: shapingKeyColumns,
  audit_entry: auditEntryColumns,
}

/** The columns of the table `event`, which also has `partition`, `sequence` and `record`. */
export const eventColumns: readonly Column<FabricEvent>[] = [
  { name: 'at', type: 'integer', value: (event) => event.at },
  { name: 'type', type: 'text', value: (event) => event.type },
  { name: 'execution_id', type: 'text', value: (event) => event.executionId },
  { name: 'namespace', type: 'text', value: (event) => event.namespace },
  { name: 'task', type: 'text', value: (event) => event.task },
  { name: 'lane', type: 'text', value: (event) => event.lane },
  { name: 'attempt_number', type: 'integer', value: (event) => event.attempt },
  { name: 'outcome', type: 'text', value: (event) => event.outcome },
  { name: 'flow_id', type: 'text', value: (event) => event.flowId },
]
