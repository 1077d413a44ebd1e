/** docs/states.md: what an execution goes through, and what every operation does to it. */
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
import { GENERATED, code, codes, table } from './markdown.ts'

const states: Record<PublicState, { phase: Phase; meaning: string }> = {
  waiting: {
    phase: 'eligible',
    meaning: 'Ready to run as soon as a worker asks for work, or held back by an operator.',
  },
  delayed: {
    phase: 'delayed',
    meaning:
      'Waits for a time: a delay it was submitted with, a retry, a pause it asked for, or one between a signal and its next turn.',
  },
  rate_limited: { phase: 'blocked', meaning: 'Waits for room in a limit or a budget.' },
  waiting_children: { phase: 'blocked', meaning: 'Waits for the executions that it depends on.' },
  active: { phase: 'active', meaning: 'A worker holds it.' },
  suspended: { phase: 'suspended', meaning: 'Waits for a signal, a time or an operator; no worker is held.' },
  completed: { phase: 'ended', meaning: 'Its handler returned a result.' },
  failed: { phase: 'ended', meaning: 'Its last attempt failed, or its lease was lost too often.' },
  cancelled: { phase: 'ended', meaning: 'Somebody cancelled it.' },
  expired: { phase: 'ended', meaning: 'It ran out of time: its deadline passed, or its last attempt took too long.' },
  skipped: { phase: 'ended', meaning: 'What it depended on can no longer happen.' },
}

const summaries: Record<OperationName, string> = {
  createExecution:
    'Accepts a piece of work. If the id exists already, `ifExists` decides: `join` follows the existing execution, `reject` refuses, `replace` changes one that has not started and begins an ended one again.',
  claimForWorker:
    'Hands executions to a worker, each under a lease of its own. It first sees to whatever is due, so that an execution whose time has come can be taken at once and one that is past its deadline cannot.',
  renewLease: 'Extends a lease that is still alive, and tells its holder whether somebody wants the work cancelled.',
  completeExecution: 'Ends an execution with its result.',
  failExecution:
    'Reports that an attempt failed. The retry policy decides whether another follows; if a cancel was asked for, the execution ends as cancelled instead.',
  releaseExecution: 'Hands an execution back, as at shutdown. Another worker goes on with the same attempt.',
  delayExecution: 'Parks an execution for a while. The same attempt goes on afterwards.',
  updateProgress: 'Says how far a running execution has come.',
  cancelExecution:
    'Cancels an execution. What nobody holds ends at once. The holder of a running one is asked first and has a grace to stop; with force it ends at once.',
  revokeLease: 'Takes a lease away from its holder. The execution is offered to other workers at once.',
  changePriority: 'Moves an execution forward or back in its queue.',
  setTags: 'Adds, changes and removes tags.',
  replayExecution:
    'Makes an ended execution run again. Its history is kept, and so are its recorded steps: all, those before a chosen one, or none. A member of a flow waits for what it depends on, as at first; with `subtree` everything that was skipped behind it is replayed as well.',
  runDue: 'Does everything whose time has come; see the timed cases below.',
  purgeExecutions:
    'Removes ended executions and flows whose retention is over, with all that belongs to them. A member stays as long as its flow.',
  reconcileIndexes: 'Proves that records and indexes agree, and repairs indexes that do not.',
  describeExecution: 'Tells everything about one execution.',
  listExecutions: 'Lists executions, newest first.',
  countExecutions: 'Counts the executions of each lane by state.',
  explainExecution: 'Answers why an execution is not running.',
  inspectPartition: 'Tells how much a partition holds and what is overdue in it.',
  submitFlow:
    'Accepts a whole graph of executions and begins it. A large graph comes in several calls and is held until the last of them; whoever brings the same content goes on with it.',
  createFlow: 'Opens a flow without members. In a flow that is held nothing runs before it is sealed.',
  addExecutionToFlow:
    'Makes an execution a member of a flow: one that exists, or a new one together with the edges that lead to it. A running member may add one that it is going to wait for.',
  addDependency:
    'Puts one member of a flow before another, which is the execution of this table. If the first has ended already, the second is let go or skipped at once.',
  setEdgeGroupPolicy: 'Says whether a member waits for all that lead to it, for any, or for a number of them.',
  sealFlow:
    'Closes the graph of a flow: it takes no more members and ends with the last of them. What was held begins.',
  cancelFlow:
    'Cancels a flow and, as its policy says, all members, those that do not run, or none. Unless it is cancelled alone, no member is begun from then on; those that it has no room for are cancelled in the background.',
  setFlowTags: 'Adds, changes and removes tags of a flow.',
  waitForChildren:
    'Lets go of an execution until what it depends on has ended. The same attempt goes on afterwards; if there is nothing to wait for, the holder keeps its lease.',
  readInputs: 'Tells what a member is given of those that it waited for.',
  describeFlow: 'Tells everything about one flow.',
  listFlows: 'Lists flows, newest first.',
  listFlowMembers: 'Lists the members of a flow in the order of its graph.',
  listEdges: 'Lists the edges that lead to a member or from it.',
  reconcileDependencies: 'Proves that no member waits for what has happened already, and moves those on that do.',
  reconcileSiblingCancels:
    'Finishes the paperwork of groups that owe cancels to those that lost. It cancels nobody itself.',
  reconcileFlowCancels: 'Goes on with cancelled flows whose members have not all been cancelled.',
  auditFlows: 'Counts the members of flows anew and compares with what the flows say of themselves.',
  recordStep:
    'Keeps what a step of a handler came to. What was recorded is not overwritten: the answer then says what counts. A step that is to be tried again later may let go of the execution until then.',
  suspendExecution:
    'Lets go of an execution until signals meet a condition, a time has come or an operator says so. The same attempt goes on afterwards. If what came early has met the condition, or the wait has ended before, the holder keeps its lease and is answered.',
  createWaitpoint:
    'Opens a place for signals ahead of the wait for them, so that links to it can be handed out. Said again, also by a later attempt, it is the same waitpoint.',
  deliverSignal:
    'Tells an execution something. What comes early is kept, what comes twice is answered as at first, what meets the condition of a wait lets the execution go on, and what comes late is refused.',
  resumeExecution: 'Lets a suspended execution go on, whatever it waits for.',
  closeWaitpoint:
    'Closes a waitpoint: it takes no more signals. The last one that could answer a wait is closed only with force.',
  reissueWaitpoint: 'Makes all tokens worthless that were handed out for an open waitpoint, so that new ones can be.',
  readSteps: 'Tells what the steps of an execution came to, in the order in which they were first recorded.',
  readSignals: 'Tells the signals that an execution has accepted, in the order of arrival.',
  listWaitpoints: 'Lists the waitpoints of one execution, never with tokens.',
  listOpenWaitpoints: 'Lists the open waitpoints of all executions, those that have been open longest first.',
}

/** Operations that write, and yet leave every execution as it is. */
const asideFromExecutions: readonly OperationName[] = [
  'reconcileIndexes',
  'createFlow',
  'setFlowTags',
  'reconcileSiblingCancels',
]

const timedCases: Record<DueCaseName, string> = {
  execution_deadline: 'The total deadline has passed: the execution expires, whatever retries remain.',
  cancel_grace: 'A holder was asked to stop and its grace is over: the execution ends as cancelled.',
  lease_expiry:
    'A worker has gone silent: the execution is offered to other workers, for a new attempt. It ends as cancelled if that was asked for, and as failed if leases were lost too often.',
  attempt_timeout:
    'An attempt has run too long: it has failed, and the retry policy decides whether another follows. If none does, the execution expires.',
  delayed_promoter: 'A delay is over: the execution can be claimed.',
  suspension_timeout:
    'The time of a wait is over. A sleep has come to its end, and a step is tried again; any other wait ends in the way that was asked for: the execution goes on, with or without a signal that tells of it, waits on for an operator, or ends as failed, cancelled or expired.',
  wait_reminder: 'Somebody is still being waited for: the event log says so.',
  pending_waitpoint_expiry: 'No wait has come for a waitpoint that was opened ahead of one: it closes.',
  journal_sweeper:
    'A replay has set steps aside, or an execution was replaced: what nobody will look at again is removed.',
  edge_dispatcher: 'A member of a flow has ended and has not told all that depend on it: the others are told.',
  edge_cancel_dispatcher:
    'Enough of those that a member depends on have ended, and not all others have been cancelled: they are.',
  flow_release: 'A flow is held no more, and not all of its members may run yet: the others are let go.',
  flow_cancel: 'A flow was cancelled, and not all of its members have been: the others are.',
  flow_replay: 'A member of a flow is replayed, and not all that was skipped behind it is: the rest is.',
  submission_abandoned: 'A flow was submitted in part, and nobody has sent the rest: it is cancelled.',
}

const events: Record<EventType, string> = {
  execution_created: 'An execution was accepted.',
  execution_replaced: 'An execution was submitted again and replaced the one with the same id.',
  attempt_started: 'A worker took the execution.',
  attempt_failed: 'An attempt failed or ran too long, and another follows at `until`.',
  lease_expired: 'The holder did not renew its lease; the execution is offered to others.',
  lease_revoked: 'An operator took the lease away; the execution is offered to others.',
  execution_released: 'The holder handed the execution back.',
  execution_delayed: 'The holder parked the execution until `until`.',
  execution_promoted: 'A delay is over; the execution can be claimed.',
  cancel_requested: 'The holder was asked to stop; at `until` the execution is ended without it.',
  execution_ended: 'The execution ended, with this `outcome`.',
  execution_replayed: 'An ended execution was made runnable again.',
  execution_purged: 'An ended execution was removed after its retention.',
  progress_updated: 'The holder said how far it has come.',
  priority_changed: 'The priority changed.',
  tags_set: 'The tags changed.',
  execution_blocked: 'The execution waits for others that it depends on, or for its flow to be released.',
  execution_unblocked: 'Nothing holds the execution back any more; it can be claimed, at `until` if that is set.',
  flow_created: 'A flow was accepted.',
  flow_sealed: 'The flow takes no more members: it ends with the last of them.',
  flow_ended: 'All members of a sealed flow have ended, and so has the flow, with this `outcome`.',
  flow_cancelled: 'The flow was cancelled.',
  flow_reopened: 'A member of an ended flow runs again, and so does the flow.',
  flow_purged: 'An ended flow was removed after its retention, with all its members.',
  step_recorded: 'A step of the handler came to something, as `effect` says.',
  execution_suspended: 'The holder let go of the execution, to wait in `step`, at most until `until`.',
  execution_resumed: 'The wait in `step` is over; the execution can be claimed, at `until` if that is set.',
  wait_reminded: 'Somebody is still being waited for in `step`.',
  wait_escalated: 'The time of a wait is over, and it goes on until an operator ends it.',
  waitpoint_opened: 'A waitpoint takes signals, or its tokens were issued anew.',
  waitpoint_closed: 'A waitpoint was closed before a wait was answered there.',
  signal_received: 'A signal was accepted; `effect` says what it did.',
}

/** Changes of phase by what brings them about, drawn from the transitions. */
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
  if (from === 'absent' && to.every((place) => place === 'absent')) return 'nothing happens'
  return to.map((place) => (place === from ? 'stays' : place === 'absent' ? 'is removed' : code(place))).join(', ')
}

function refusedWith({ refused }: Transition): string {
  return refused.length === 0 ? '—' : codes(refused)
}

/** The phases to which some way leads from nothing. */
function reachable(names: readonly OperationName[]): Set<Place> {
  const reached = new Set<Place>(['absent'])
  // A set that grows while it is walked is walked to its end.
  for (const place of reached) {
    for (const name of names) for (const to of transitions[name][place].to) reached.add(to)
  }
  return reached
}

function notYetMet(names: readonly OperationName[]): string {
  const reached = reachable(names)
  const unreached = places.filter((place) => !reached.has(place))
  if (unreached.length === 0) return ''
  return `No operation of this version leads to ${unreached.map(code).join(' or ')}. A program that names all states is ready
for that.`
}

function section(name: OperationName): string {
  const rows = places.map((place) => {
    const cell: Transition = transitions[name][place]
    return [placeText(place), leadsTo(place, cell), refusedWith(cell)]
  })
  return `### ${name}\n\n${summaries[name]}\n\n${table(['An execution that', 'goes to', 'or the call is refused with'], rows)}`
}

function phaseText(state: PublicState): string {
  // Two causes of being held back are shown to users as waiting.
  return state === 'waiting' ? `${code('eligible')}, ${code('blocked')}` : code(states[state].phase)
}

export function statesPage(): string {
  const names = Object.keys(operations) as OperationName[]
  const looking = names.filter((name) => isReadOperation(name) || asideFromExecutions.includes(name))
  const changing = names.filter((name) => !looking.includes(name))
  return `${GENERATED}

# States

An execution is always in one of six phases. Users see a finer word, its state. The state is derived from the record and
never stored, so the two cannot disagree.

${table(
  ['State', 'Phase', 'Meaning'],
  publicStates.map((state) => [code(state), phaseText(state), states[state].meaning]),
)}

## How the phase changes

${diagram(changing)}

${notYetMet(changing)}

What has ended stays as it ended: only a replay or a replacement makes it run again, and after its retention it is removed.

## What every operation does

Each operation can be repeated safely. Said twice with the same input it is done once, and the second answer says so, for
instance \`already_completed\`. A call that is refused has changed nothing.

A worker proves with its fence (lease, epoch and attempt) that it still holds an execution. Once the lease is over, or
somebody else has the execution, its calls are refused with \`lease_expired\`, \`lease_revoked\`, \`stale_lease\` or
\`execution_not_active\`, and it must stop. [Errors](errors.md) says what each code means.

"Stays" means that the execution remains in its phase: the operation changed something else, or found its work done.

${changing.map(section).join('\n\n')}

### Operations that change no execution

${table(
  ['Operation', 'What it does'],
  looking.map((name) => [code(name), summaries[name]]),
)}

## Timed cases

Whatever time alone changes is one of these. If several are due at once, the first in this list is done.

${table(
  ['Case', 'What happens'],
  [...dueCases, ...flowDueCases].map(({ name }) => [code(name), timedCases[name]]),
)}

## Events

Every change leaves an event in the log of its partition, in order.

${table(
  ['Event', 'Meaning'],
  eventTypes.map((type) => [code(type), events[type]]),
)}
`
}
