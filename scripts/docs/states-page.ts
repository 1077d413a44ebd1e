/** Generates docs/states.md, which describes states, operations, timed cases and events, from the catalogues of the kernel. */
import {
  dueCases,
  eventTypes,
  flowDueCases,
  isReadOperation,
  operations,
  publicStates,
} from '../../src/kernel/index.ts'
import type { DueCaseName, EventType, OperationName, Phase, PublicState } from '../../src/kernel/index.ts'
import { places, transitions } from '../../src/kernel/transition-table.ts'
import type { Place, Transition } from '../../src/kernel/transition-table.ts'
import { GENERATED, code, codes, list, table } from './markdown.ts'

const states: Record<PublicState, { phase: Phase; meaning: string }> = {
  waiting: { phase: 'eligible', meaning: 'Ready to be claimed, or held by an operator or by its flow.' },
  delayed: {
    phase: 'delayed',
    meaning: 'Waits for a time: the delay of a submit, a retry, a postpone, or the delay after a signal.',
  },
  rate_limited: { phase: 'blocked', meaning: 'Waits for a permit of a limit. It occupies no worker.' },
  waiting_dependencies: { phase: 'blocked', meaning: 'Waits for the executions that it depends on.' },
  active: { phase: 'active', meaning: 'A worker has the lease.' },
  suspended: { phase: 'suspended', meaning: 'Waits for a signal, a time or an operator. It occupies no worker.' },
  completed: { phase: 'ended', meaning: 'Its handler returned a result.' },
  failed: { phase: 'ended', meaning: 'Its last attempt failed, or its lease was lost too often.' },
  cancelled: { phase: 'ended', meaning: 'It was cancelled.' },
  expired: { phase: 'ended', meaning: 'Its deadline passed, or its last attempt timed out.' },
  skipped: { phase: 'ended', meaning: 'Its dependencies can no longer be met.' },
}

const summaries: Record<OperationName, string> = {
  createExecution:
    'Creates an execution. If the id exists, the same input joins and another one is refused, unless `ifExists` decides: `join` returns the existing execution, `reject` refuses, `replace` changes one that has not started and restarts one that has ended, `after` runs it once more when its present run has ended.',
  claimForWorker:
    'Grants a worker leases of executions. Runs due timers first, so that an execution whose delay is over can be claimed and one past its deadline cannot.',
  renewLease: 'Extends a live lease, and returns a pending cancel request.',
  completeExecution: 'Ends an execution with its result.',
  failExecution:
    'Records a failed attempt. The retry policy decides whether another follows. If none does and the handler has registered compensations, the failure is stored, and the holder keeps its lease to run them. If a cancel was requested, the execution ends as cancelled.',
  releaseExecution:
    'Returns an execution to its queue, as at shutdown, or after a delay if the worker refuses its input.',
  delayExecution: 'Postpones an execution. The same attempt continues afterwards.',
  updateProgress: 'Records the progress of a running execution.',
  appendFrames: 'Appends frames to the stream of a running execution, and replaces its live frames and its summary.',
  readFrames: 'Returns frames of an execution from a position on, its live frames and its summary.',
  appendLogLines:
    'Appends lines to the log of an execution. The latest holder may do so also after its lease has ended.',
  readLogLines: 'Returns the log lines that are kept of an execution, from a position on.',
  takeSignals: 'Takes buffered signals from a mailbox of a running execution, and returns those that follow.',
  cancelExecution:
    'Cancels an execution. One that is not running ends immediately, or runs once more if it has steps to undo. The holder of a running one has a grace to stop. With `force` it ends immediately.',
  revokeLease: 'Revokes a lease. Other workers can claim the execution immediately.',
  changePriority: 'Changes the priority of an execution.',
  deleteExecution: 'Removes an ended execution before its retention is over.',
  setTags: 'Adds, changes and removes tags.',
  replayExecution:
    'Runs an ended execution again. Its history is kept, and so are its recorded steps: all, those before a chosen one, or none. A member of a flow waits for its dependencies again; with `subtree` all nodes that were skipped because of it are replayed too.',
  runDue: 'Handles all timers that are due; see the timed cases below.',
  purgeExecutions:
    'Removes ended executions and flows after their retention, with all records that belong to them. A member is kept as long as its flow.',
  reconcileIndexes: 'Verifies that records and indexes agree, and repairs indexes that do not.',
  describeExecution: 'Returns the full description of one execution.',
  listExecutions: 'Lists executions, newest first.',
  countExecutions: 'Counts the executions of each lane by state.',
  renewDuties: 'Renews the share of partitions that an engine examines, and returns it.',
  leaveDuties: 'Gives the share of a closing engine back.',
  countKept: 'Counts the ended executions of tasks that keep a number of them.',
  listKept: 'Lists the oldest ended executions of a task that keeps a number of them.',
  listQueues: 'Lists the queues of a lane that have a namespace or needs, for workers that may serve them.',
  explainExecution: 'Returns the reason why an execution is not running.',
  inspectPartition: 'Returns the size of a partition and its overdue timers.',
  submitFlow:
    'Creates a flow with its whole graph. A large graph is sent in several calls and held until the last of them; a repeated submit of the same content resumes. Other content is refused, unless `ifExists` decides: `join`, `reject`, or `replace` for a flow that has ended.',
  createFlow: 'Creates a flow without members. In a held flow no member runs before it is sealed.',
  addExecutionToFlow:
    'Adds an execution to a flow: an existing one, or a new one together with its incoming edges. A running member may add one that it is going to wait for.',
  addDependency:
    'Adds an edge between two members; the table is about the downstream. If the upstream has already ended, the downstream is released or skipped immediately.',
  setEdgeGroupPolicy:
    'Sets whether a member waits for all of its upstreams, for any, for a number of them, or for the end of all.',
  sealFlow: 'Seals a flow: it accepts no more members and ends with the last of them. Held members are released.',
  cancelFlow:
    'Cancels a flow and, depending on its policy, all members, those that are not running, or none. With the first two policies no member starts afterwards. Members beyond the limit of one operation are cancelled in the background.',
  setFlowTags: 'Adds, changes and removes tags of a flow.',
  waitForChildren:
    'Parks an execution until its dependencies have ended. The same attempt continues afterwards. If there is nothing to wait for, the holder keeps its lease.',
  skipExecution:
    'Skips a member whose condition is not met, after its claim and before its handler runs. Idempotent per fence.',
  readInputs: 'Returns the results of the upstreams of a member.',
  describeFlow: 'Returns the full description of one flow.',
  listFlows: 'Lists flows, newest first.',
  listFlowMembers: 'Lists the members of a flow in topological order.',
  listEdges: 'Lists the incoming or outgoing edges of a member.',
  reconcileDependencies: 'Verifies that no member waits for upstreams that have ended, and releases those that do.',
  reconcileSiblingCancels: 'Removes the marks of groups whose losers have all been cancelled. Cancels nothing itself.',
  reconcileFlowCancels: 'Continues the cancel of flows whose members have not all been cancelled.',
  auditFlows: 'Recounts the members of flows and compares the result with the stored counts.',
  recordStep:
    'Records the outcome of a step. A recorded outcome is not overwritten; the result then contains the recorded one. A step that is retried later may park the execution until then.',
  suspendExecution:
    'Parks an execution until signals meet a condition, a time has come, or an operator resumes it. The same attempt continues afterwards. If buffered signals meet the condition, or the wait has already ended, the holder keeps its lease and gets the answer.',
  createWaitpoint:
    'Opens a waitpoint before the wait, so that links to it can be sent. Idempotent, also for later attempts.',
  registerCompensation:
    'Stores how many compensations the handler has registered, so that they run even if its worker dies. Idempotent.',
  deliverSignal:
    'Delivers a signal. An early signal is buffered, a duplicate returns the first result, one that meets the condition of a wait resumes the execution, and a late one is refused.',
  resumeExecution: 'Resumes a suspended execution before its wait is answered.',
  closeWaitpoint:
    'Closes a waitpoint: it accepts no more signals. The last one that could answer a wait is closed only with `force`.',
  reissueWaitpoint: 'Revokes all tokens of an open waitpoint, so that new ones can be issued.',
  readSteps: 'Returns the steps of an execution with their outcomes, in the order of recording.',
  readSignals: 'Returns the accepted signals of an execution, in the order of arrival.',
  listWaitpoints: 'Lists the waitpoints of one execution, without tokens.',
  listOpenWaitpoints: 'Lists the open waitpoints of all executions, the oldest first.',
  startChildren: 'Starts children of an execution, and may suspend it until they have ended.',
  configureLane: 'Pauses, drains, disables or resumes a lane or a task of it, or sets the weight of the lane.',
  applyLane: 'Copies the settings of a lane into an execution partition.',
  confirmLane: 'Notes that all execution partitions have a copy of the settings of a lane.',
  listLanes: 'Lists the settings of lanes.',
  joinChildren: 'Suspends an execution until the children that it waits for have ended, as its policy asks.',
  registerWorker: 'Registers a worker, or refreshes its registration.',
  heartbeatWorker: 'Extends the registration of a worker, and returns a request to drain.',
  unregisterWorker: 'Removes the registration of a worker that has closed.',
  drainWorker: 'Asks a worker to finish its current work and to stop.',
  markWorkerDead: 'Declares that the process of a worker has ended.',
  listWorkers: 'Lists workers by their instance ids.',
  listUnsweptWorkers: 'Lists lost and dead workers whose leases are not revoked yet.',
  recordWorkerSweep: 'Records that the leases of a lost or dead worker were revoked in every partition.',
  revokeWorkerLeases: 'Revokes the leases of a lost or dead worker; other workers can claim the executions.',
  defineLimit: 'Creates a limit, or changes it: the change applies to the next admission of every key.',
  deleteLimit: 'Deletes a limit. Executions that refer to it are not limited any more.',
  listLimits: 'Lists the limits by name.',
  describeLimit: 'Returns a limit with the usage of its keys, the busiest first.',
  takePermits: 'Takes permits of limits for a worker process. Idempotent per request id.',
  returnPermits:
    'Returns permits, and names the partitions whose blocked work can use them. Idempotent per request id.',
  renewPermits: 'Extends the permits of a worker process. Permits that have lapsed are not revived.',
  holdLimit: 'Holds back one key of a limit for all workers.',
  liftHold: 'Ends the hold of a key, and names the partitions whose blocked work can use its permits.',
  readWakes: 'Returns the wakes of one key of a budget that no process has confirmed.',
  confirmWakes: 'Forgets wakes of a budget that a process has delivered. Idempotent.',
  wakeWaiting: 'After a change of a limit, names the partitions whose blocked work can use its permits.',
  blockExecution:
    'Gives back an execution for which a limit has no permit. It is blocked, with its place and its attempts as they were before the claim.',
  openGates:
    'Releases executions that a limit blocks, as many as permits are free, and ends the delay of those for which a budget has room.',
  configureSchedule: 'Creates a schedule, or changes it. An equal definition changes nothing.',
  deleteSchedule: 'Deletes a schedule. Its executions are not touched.',
  describeSchedule: 'Returns a schedule with the state of its latest executions.',
  fireSchedule: 'Creates executions of a schedule by hand: one now, or those of past boundaries.',
  holdSchedule: 'Pauses a schedule, or resumes it. Boundaries of the pause do not fire.',
  listSchedules: 'Lists schedules by namespace and name.',
  planSchedule: 'Stores the next boundaries of a schedule.',
  readUnplanned: 'Reads schedules that lack boundaries.',
  retimeSchedule: 'Changes when a schedule fires, and nothing else of it.',
  renewConsumer: 'Renews a member of a consumer, stores its progress, and returns the partitions that it reads.',
  seekConsumer: 'Moves a consumer to other positions of the event log.',
  deleteConsumer: 'Deletes a consumer with its positions.',
  describeConsumer: 'Returns a consumer with its positions and members.',
  defineBudget: 'Creates a budget, or changes it: the change applies to the next admission of every key.',
  deleteBudget: 'Deletes a budget that has none below it: it bounds and counts nothing from now on.',
  planBudget: 'Stores the next boundaries of a budget.',
  freezeBudget: 'Freezes a budget or opens it. A frozen budget reserves nothing and starts no new work.',
  raiseBudget: 'Adds to the hard limits of one key of a budget until it begins anew. Idempotent per request id.',
  resetBudget: 'Begins one key of a budget anew before its time.',
  reserveBudget:
    'Reserves amounts in a budget and all those above it, if all have room in every dimension. Idempotent per key.',
  releaseReservation: 'Returns reserved amounts unspent. Idempotent.',
  renewReservations:
    'Extends reservations with the lease that they are bound to. Those that have lapsed are not revived.',
  settleReservation: 'Replaces a reservation by what was spent, also if it has lapsed. Idempotent per key.',
  spendBudget: 'Records what was spent, in a budget and all those above it. Idempotent per key.',
  listBudgets: 'Lists budgets by tree and name.',
  describeBudget: 'Returns a budget with what its keys have spent and reserved.',
  readCharges: 'Returns the ledger of one key of a budget, or of one execution, the latest line first.',
  readPeriods: 'Returns the sums of the past periods of one key of a budget, the latest first.',
  reconcileBudgets:
    'Verifies that the sums of budgets match their ledgers and reservations, and corrects those that do not.',
  readReservations: 'Returns the open reservations of one execution.',
  findSpenders: 'Finds which accounts of budgets the executions of a partition spend, page by page.',
  retireAccounts: 'Removes idle accounts of executions that nothing spends any more.',
  continueOrder: 'Lets the executions of an order run that wait behind a failed one.',
  listConsumers: 'Lists consumers or webhooks by namespace and name.',
  awaitRoom: 'Remembers a delayed execution for which a budget had no room. It is woken when what it asks for fits.',
  recordAuditEntry:
    'Appends an entry to the audit trail, and removes the oldest entries beyond its size. Idempotent per id.',
  listAuditEntries: 'Lists the audit trail, the latest entry first.',
  changeWebhook:
    'Creates or changes a webhook, changes its secrets, disables or enables it, or notes how a delivery ended.',
  reconcileLimits:
    'Verifies that the counters of limits match the permits that are held, and corrects those that do not. Removes what is left of deleted limits.',
  reconcileBlocked:
    'Verifies that every execution which a limit blocks has a gate that will release it, and repairs or opens gates that do not.',
}

/** Operations that write, but change no execution. */
const asideFromExecutions: readonly OperationName[] = [
  'reconcileIndexes',
  'createFlow',
  'setFlowTags',
  'reconcileSiblingCancels',
  'registerWorker',
  'heartbeatWorker',
  'unregisterWorker',
  'drainWorker',
  'markWorkerDead',
  'recordWorkerSweep',
  'configureLane',
  'applyLane',
  'confirmLane',
  'defineLimit',
  'deleteLimit',
  'takePermits',
  'returnPermits',
  'renewPermits',
  'holdLimit',
  'liftHold',
  'wakeWaiting',
  'confirmWakes',
  'reconcileLimits',
  'renewDuties',
  'leaveDuties',
  'configureSchedule',
  'deleteSchedule',
  'fireSchedule',
  'holdSchedule',
  'planSchedule',
  'renewConsumer',
  'retimeSchedule',
  'seekConsumer',
  'deleteConsumer',
  'defineBudget',
  'deleteBudget',
  'planBudget',
  'freezeBudget',
  'raiseBudget',
  'resetBudget',
  'reserveBudget',
  'releaseReservation',
  'renewReservations',
  'settleReservation',
  'spendBudget',
  'reconcileBudgets',
  'retireAccounts',
  'awaitRoom',
  'changeWebhook',
  'recordAuditEntry',
]

const timedCases: Record<DueCaseName, string> = {
  execution_deadline:
    'The total deadline has passed: the execution expires, even if retries remain. If it has steps to undo, its handler may undo them first.',
  compensation_timeout:
    'An execution that was stopped has not undone its steps in time, or no worker has claimed it for that: it ends.',
  cancel_grace: 'The grace of a cancel request is over: the execution ends as cancelled.',
  lease_expiry:
    'A lease has expired: other workers can claim the execution, for a new attempt. It ends as cancelled if a cancel was requested, and as failed if leases were lost too often.',
  attempt_timeout:
    'An attempt has timed out: it counts as failed, and the retry policy decides whether another follows. If none does, the execution expires. Registered compensations run before.',
  delayed_promoter: 'A delay is over: the execution can be claimed.',
  suspension_timeout:
    'The time of a wait is over. A sleep ends, and a step is retried. Any other wait ends as its `onTimeout` declares: the execution resumes, with or without a signal, keeps waiting for an operator, or ends as failed, cancelled or expired.',
  wait_reminder: 'A wait is not answered yet: an event is written.',
  pending_waitpoint_expiry: 'A waitpoint that was opened ahead has expired without a wait: it closes.',
  child_canceller:
    'An execution was stopped, or a wait for children was decided without some of them: the children that still run are cancelled.',
  journal_sweeper:
    'A replay has set steps aside, or an execution was replaced: records that are no longer used are removed.',
  edge_dispatcher:
    'A member of a flow has ended, and not all of its outgoing edges are resolved: the rest is resolved.',
  edge_cancel_dispatcher: 'A group has decided, and not all of its losers are cancelled: the rest is cancelled.',
  flow_release: 'A flow is no longer held, and not all of its members are released: the rest is released.',
  flow_cancel: 'A flow was cancelled, and not all of its members are: the rest is cancelled.',
  flow_replay: 'A member was replayed, and not all nodes that were skipped because of it are: the rest is replayed.',
  flow_follow_up: 'Begins the follow-up of a flow that has finished, after the members of its earlier run are removed.',
  permit_expiry: 'A worker process has not renewed its permits of a limit: others can have them.',
  gauge_idle: 'Nothing of a key of a limit is held, and nothing counts any more: its usage is removed.',
  unblock:
    'A limit blocks executions, and may have permits now: some of the executions can be claimed, the first ones first.',
  schedule_firing:
    'A boundary of a schedule has come, or an earlier firing for which one waits has ended: its execution is created, unless the policies for overlaps and missed boundaries say otherwise.',
  schedule_planning: 'The same, and the schedule lacks further boundaries: the engine computes them.',
  budget_reset: 'A boundary of a budget has come: its keys begin anew.',
  budget_waking: 'A change of a budget may have given work room, and its process has not woken it: the engine does.',
  wake_delivery: 'A wake of work that waits for a budget was not confirmed: the engine delivers it again.',
  budget_planning: 'The same, and the budget lacks further boundaries: the engine computes them.',
  reservation_expiry: 'A process has not renewed a reservation: its amounts are free again.',
  charge_expiry: 'A line of the ledger of a budget is old: it is removed, and the sums stay.',
  shaping_expiry: 'A window is over, or an order has had no execution for long: its shaping key is removed.',
  audit_expiry: 'An entry of the audit trail was kept for its time: it is removed.',
  submission_abandoned: 'A flow was submitted in part, and the rest has not arrived: it is cancelled.',
  share_expiry:
    'A key that takes turns in a lane has had no submit for long: its share is removed if the lane is past its last turn.',
  worker_expiry: 'A worker has sent no heartbeat for its ttl: it counts as lost. Later the registration is removed.',
}

const events: Record<EventType, string> = {
  execution_created: 'An execution was created.',
  execution_replaced: 'A submit with the same id replaced the execution.',
  attempt_started: 'A worker claimed the execution.',
  attempt_failed: 'An attempt failed or timed out, and another follows at `until`.',
  lease_expired: 'The holder did not renew its lease; other workers can claim the execution.',
  lease_revoked: 'An operator revoked the lease; other workers can claim the execution.',
  execution_released: 'The holder released the execution.',
  execution_delayed: 'The holder postponed the execution until `until`.',
  execution_promoted: 'A delay is over; the execution can be claimed.',
  cancel_requested: 'The holder was asked to stop; at `until` the execution ends in any case.',
  execution_ended: 'The execution ended, with this `outcome`.',
  execution_replayed: 'An ended execution runs again.',
  execution_purged: 'An ended execution was removed after its retention.',
  progress_updated: 'The holder reported progress.',
  priority_changed: 'The priority changed.',
  tags_set: 'The tags changed.',
  execution_blocked: 'The execution waits for its dependencies or for a permit of a limit, or its flow is held.',
  execution_unblocked: 'The execution can be claimed, at `until` if that is set.',
  flow_created: 'A flow was created.',
  flow_sealed: 'The flow accepts no more members and ends with the last of them.',
  flow_ended: 'All members of a sealed flow have ended, and so has the flow, with this `outcome`.',
  flow_cancelled: 'The flow was cancelled.',
  flow_reopened: 'A member of an ended flow runs again, and so does the flow.',
  flow_purged: 'An ended flow was removed after its retention, with all its members.',
  step_recorded: 'A step was recorded, with this `effect`.',
  execution_suspended: 'The execution waits in `step`, at most until `until`. It occupies no worker.',
  execution_resumed: 'The wait in `step` is over; the execution can be claimed, at `until` if that is set.',
  wait_reminded: 'The wait in `step` is not answered yet.',
  wait_escalated: 'A wait timed out and now waits for an operator.',
  waitpoint_opened: 'A waitpoint accepts signals, or its tokens were reissued.',
  waitpoint_closed: 'A waitpoint was closed before a wait was answered there.',
  signal_received: 'A signal was accepted, with this `effect`.',
  execution_unwinding:
    'The execution is about to end with `outcome`: its handler may undo its steps before, until `until` at most. With the effect `under_lease`, the holder does that in the same run.',
  follow_up_set:
    'The execution or flow will run once more, with the content of a later submit, when its present run has ended.',
  follow_up_started: 'A follow-up began: the execution or flow runs once more, with other content.',
  follow_up_dropped: 'A cancel dropped a pending follow-up.',
  worker_registered: 'A worker has registered.',
  worker_unregistered: 'A worker has closed and withdrawn its registration.',
  worker_draining: 'A worker was asked to finish its work and to claim nothing more, or has begun to.',
  worker_lost: 'A worker has sent no heartbeat for its ttl.',
  schedule_changed: 'A schedule was created, changed, paused, resumed or deleted, as `effect` says.',
  schedule_skipped: 'The boundary `until` of a schedule did not fire, for this `reason`.',
  budget_changed:
    'A budget was defined, changed, frozen, opened, raised or reset, as `effect` says. Of a single key, `task` names it.',
  budget_warned: 'A key of a budget, which `task` names, has passed its soft limit of the dimension `category`.',
  budget_breached:
    'Work found no room in a key of a budget, which `task` names, for the dimension `category`; or spending has passed the hard limit.',
  order_continued: 'An operator let the executions run that waited behind this failed one.',
  lane_changed: 'An operator has held or resumed a lane, or changed its weight.',
  worker_dead: 'An operator declared that the process of a worker has ended.',
}

/** Draws the changes of phase, labelled with the operations that cause them. */
function diagram(names: readonly OperationName[]): string {
  const edges = new Map<string, Set<string>>()
  for (const name of names) {
    for (const from of places) {
      for (const to of transitions[name][from].to) {
        if (to === from) continue
        const edge = `${from === 'absent' ? '[*]' : from} --> ${to === 'absent' ? '[*]' : to}`
        edges.set(edge, (edges.get(edge) ?? new Set()).add(name))
      }
    }
  }
  const lines = [...edges].map(([edge, by]) => `  ${edge}: ${[...by].join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}

function placeText(place: Place): string {
  return place === 'absent' ? 'does not exist' : `is ${code(place)}`
}

function leadsTo(from: Place, { to }: Transition): string {
  if (to.length === 0) return '—'
  if (from === 'absent' && to.every((place) => place === 'absent')) return 'no change'
  return to.map((place) => (place === from ? 'stays' : place === 'absent' ? 'is removed' : code(place))).join(', ')
}

function refusedWith({ refused }: Transition): string {
  return refused.length === 0 ? '—' : codes(refused)
}

/** Returns the phases that are reachable from `absent`. */
function reachable(names: readonly OperationName[]): Set<Place> {
  const reached = new Set<Place>(['absent'])
  // The iteration includes elements that are added during it.
  for (const place of reached) {
    for (const name of names) for (const to of transitions[name][place].to) reached.add(to)
  }
  return reached
}

function unreachablePhases(names: readonly OperationName[]): string {
  const reached = reachable(names)
  const unreached = places.filter((place) => !reached.has(place))
  if (unreached.length === 0) return ''
  return `No operation of this version leads to ${unreached.map(code).join(' or ')}.`
}

function section(name: OperationName): string {
  const rows = places.map((place) => {
    const cell: Transition = transitions[name][place]
    return [placeText(place), leadsTo(place, cell), refusedWith(cell)]
  })
  return `### ${name}\n\n${summaries[name]}\n\n${table(['An execution that', 'changes to', 'or the call is refused with'], rows)}`
}

function phaseText(state: PublicState): string {
  // An execution that is held by an operator or by its flow is blocked, and its public state is `waiting`.
  return state === 'waiting' ? `${code('eligible')}, ${code('blocked')}` : code(states[state].phase)
}

export function statesPage(): string {
  const names = Object.keys(operations) as OperationName[]
  const reading = names.filter((name) => isReadOperation(name) || asideFromExecutions.includes(name))
  const changing = names.filter((name) => !reading.includes(name))
  return `${GENERATED}

# States

An execution is always in one of six phases. The API shows its state, which is more specific. The state is derived from the record and
not stored, so the two cannot disagree.

${list(publicStates.map((state) => `${code(state)} (${phaseText(state)}): ${states[state].meaning}`))}

## Transitions

${diagram(changing)}

${unreachablePhases(changing)}

An ended execution does not change: only a replay or a replacement runs it again, and after its retention it is purged.

## Operations

Every operation is idempotent. A repeat with the same input has no further effect, and its result states that, for
instance \`already_completed\`. A refused call has changed nothing.

A worker sends its fence (lease, epoch and attempt) with every call. Once the lease has ended, or
another worker has the execution, its calls are refused with \`lease_expired\`, \`lease_revoked\`, \`stale_lease\` or
\`execution_not_active\`, and it must stop. [Errors](errors.md) lists all codes.

"Stays" means that the execution remains in its phase: the operation changed something else, or was a no-op.

${changing.map(section).join('\n\n')}

### Operations that change no execution

${list(reading.map((name) => `${code(name)}: ${summaries[name]}`))}

## Timed cases

These are the changes that depend on time alone. If several are due at once, the first in this list applies.

${list([...dueCases, ...flowDueCases].map(({ name }) => `${code(name)}: ${timedCases[name]}`))}

## Events

Every change appends an event to the log of its partition.

${list(eventTypes.map((type) => `${code(type)}: ${events[type]}`))}
`
}
