/**
 * Private copies of records. A copy shares no object or list that an operation could change with its original. Objects
 * whose fields are all `readonly` are shared, and so are unknown values: operations replace them and never change them.
 *
 * The fields are named here instead of being found through the schema: V8 reads and copies a known field of an object of
 * known shape several times faster than a field whose name is data. The unit test finds a field that is missing here.
 */
import type { Child, CountedNode, Journal, Join, Signal, Step, StepState, Wait, Waitpoint } from './journal-schema.ts'
import type {
  AnyRecord,
  Attempt,
  Edge,
  Execution,
  ExecutionState,
  Flow,
  GivenInput,
  Membership,
  Tag,
} from './records.ts'

/** Copies a record with everything in it that an operation could change. Keeps the order of the fields. */
export function copyRecord<T extends AnyRecord>(record: T): T
export function copyRecord(record: AnyRecord): AnyRecord {
  switch (record.type) {
    case 'execution':
      return copyExecution(record)
    case 'attempt':
      return copyAttempt(record)
    case 'queue':
    case 'worker':
    case 'duties':
      return { ...record }
    case 'flow':
      return copyFlow(record)
    case 'edge':
      return copyEdge(record)
    case 'step':
      return copyStep(record)
    case 'waitpoint':
      return copyWaitpoint(record)
    case 'signal':
      return copySignal(record)
    case 'share':
    case 'rotation':
    case 'lane':
    case 'limit_definition':
    case 'gauge':
    case 'holding':
    case 'gate':
    case 'stream':
    case 'frame_chunk':
    case 'schedule':
    case 'consumer':
    case 'budget':
    case 'account':
    case 'reservation':
    case 'charge':
    case 'past_period':
    case 'shaping_key':
    case 'audit_entry':
      return { ...record }
  }
}

/** Copies an object that holds only texts, numbers and flags, if there is one. */
function flat<T extends object | undefined>(value: T): T {
  return value === undefined ? value : { ...value }
}

/** Copies a list of objects, each with `copyItem`. */
function objectList<T extends object>(values: readonly T[], copyItem: (item: T) => T): T[] {
  // A slice has room for its items and no more; a list that grows by pushes has room for 17 at least.
  const copies = values.slice()
  for (let i = 0; i < copies.length; i++) copies[i] = copyItem(copies[i] as T)
  return copies
}

function copyTag(tag: Tag): Tag {
  return { ...tag }
}

function copyExecution(execution: Execution): Execution {
  const copy = { ...execution }
  copy.tags = objectList(copy.tags, copyTag)
  copy.state = copyState(copy.state)
  if (copy.attempt !== undefined) copy.attempt = { ...copy.attempt }
  if (copy.failure !== undefined) copy.failure = { ...copy.failure }
  if (copy.progress !== undefined) copy.progress = { ...copy.progress }
  if (copy.lastReplay !== undefined) copy.lastReplay = { ...copy.lastReplay }
  if (copy.member !== undefined) copy.member = copyMember(copy.member)
  if (copy.journal !== undefined) copy.journal = copyJournal(copy.journal)
  if (copy.parent !== undefined) copy.parent = { ...copy.parent }
  return copy
}

function copyState(state: ExecutionState): ExecutionState {
  if (state.phase === 'suspended') return { ...state }
  if (state.phase !== 'active') return state
  const copy = { ...state }
  copy.lease = { ...copy.lease }
  if (copy.cancel !== undefined) copy.cancel = { ...copy.cancel }
  return copy
}

function copyMember(member: Membership): Membership {
  const copy = { ...member }
  if (copy.group !== undefined) copy.group = { ...copy.group }
  if (copy.delay !== undefined) copy.delay = { ...copy.delay }
  copy.given = objectList(copy.given, copyGiven)
  return copy
}

function copyGiven(given: GivenInput): GivenInput {
  return { ...given }
}

function copyJournal(journal: Journal): Journal {
  const copy = { ...journal }
  copy.open = objectList(copy.open, flat)
  copy.cuts = objectList(copy.cuts, flat)
  if (copy.resumed !== undefined) copy.resumed = { ...copy.resumed }
  if (copy.childCancels !== undefined) copy.childCancels = { ...copy.childCancels }
  return copy
}

function copyAttempt(attempt: Attempt): Attempt {
  const copy = { ...attempt }
  copy.failure = flat(copy.failure)
  return copy
}

function copyFlow(flow: Flow): Flow {
  const copy = { ...flow }
  copy.tags = objectList(copy.tags, copyTag)
  copy.state = { ...copy.state }
  copy.counts = { ...copy.counts }
  copy.submission = flat(copy.submission)
  copy.walk = flat(copy.walk)
  return copy
}

function copyEdge(edge: Edge): Edge {
  const copy = { ...edge }
  copy.hands = flat(copy.hands)
  return copy
}

function copyStep(step: Step): Step {
  const copy = { ...step }
  copy.state = copyStepState(copy.state)
  if (copy.wait !== undefined) copy.wait = copyWait(copy.wait)
  if (copy.child !== undefined) copy.child = copyChild(copy.child)
  if (copy.join !== undefined) copy.join = copyJoin(copy.join)
  return copy
}

function copyStepState(state: StepState): StepState {
  switch (state.phase) {
    case 'failed':
    case 'retrying': {
      const copy = { ...state }
      copy.failure = { ...copy.failure }
      return copy
    }
    case 'completed':
    case 'open':
    case 'closed':
      return { ...state }
  }
}

function copyChild(child: Child): Child {
  const copy = { ...child }
  if (copy.mark !== undefined) copy.mark = { ...copy.mark }
  return copy
}

function copyJoin(join: Join): Join {
  const copy = { ...join }
  copy.winners = copy.winners.slice()
  return copy
}

function copyWait(wait: Wait): Wait {
  const copy = { ...wait }
  copy.nodes = objectList(copy.nodes, copyNode)
  copy.targets = copy.targets.slice()
  copy.satisfiers = copy.satisfiers.slice()
  return copy
}

function copyNode(node: CountedNode): CountedNode {
  const copy = { ...node }
  copy.from = copy.from.slice()
  copy.targets = copy.targets.slice()
  copy.seen = copy.seen.slice()
  return copy
}

function copyWaitpoint(waitpoint: Waitpoint): Waitpoint {
  const copy = { ...waitpoint }
  copy.senders = objectList(copy.senders, flat)
  return copy
}

function copySignal(signal: Signal): Signal {
  const copy = { ...signal }
  copy.source = { ...copy.source }
  return copy
}
