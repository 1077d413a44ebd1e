/**
 * Every operation in every phase: where it may lead, and with which codes it is refused. The compiler asks for each cell,
 * the table test proves that all of it happens and nothing else, and the page on states is written from it.
 */
import type { ErrorCode } from './errors.ts'
import type { OperationName, OperationResult } from './operations.ts'
import type { Phase } from './records.ts'

/** Where an execution can be: in one of its phases, or nowhere. */
export type Place = Phase | 'absent'

export const places: readonly Place[] = ['absent', 'eligible', 'delayed', 'blocked', 'active', 'suspended', 'ended']

export interface Transition<C extends ErrorCode = ErrorCode> {
  /** The execution's own place is among them if the operation may leave it there. */
  readonly to: readonly Place[]
  readonly refused: readonly C[]
}

type RefusalOf<N extends OperationName> = Extract<OperationResult<N>, { readonly kind: 'refused' }>['code']

export type Transitions = {
  readonly [N in OperationName]: Readonly<Record<Place, Transition<RefusalOf<N>>>>
}

function to(...possible: Place[]): Transition<never> {
  return { to: possible, refused: [] }
}

function refuse<C extends ErrorCode>(...codes: C[]): Transition<C> {
  return { to: [], refused: codes }
}

function either<C extends ErrorCode>(possible: readonly Place[], codes: readonly C[]): Transition<C> {
  return { to: possible, refused: codes }
}

const notFound = refuse('execution_not_found')
const notHeld = refuse('execution_not_active')
/** Whose lease was lost is told how; anybody else only that nobody holds the execution. */
const lost = refuse('execution_not_active', 'lease_expired', 'lease_revoked')

/** What a holder may do, and what a former one is told. */
function whileHeld(...possible: Place[]): Transition<'stale_lease' | 'lease_expired'> {
  return { to: possible, refused: ['stale_lease', 'lease_expired'] }
}

/** What looks at an execution leaves it where it is. */
const untouched = {
  eligible: to('eligible'),
  delayed: to('delayed'),
  blocked: to('blocked'),
  active: to('active'),
  suspended: to('suspended'),
  ended: to('ended'),
}

export const transitions: Transitions = {
  createExecution: {
    absent: to('eligible', 'delayed'),
    eligible: either(['eligible', 'delayed'], ['execution_exists', 'execution_in_progress']),
    delayed: either(['delayed', 'eligible'], ['execution_exists', 'execution_in_progress']),
    blocked: either(['blocked', 'eligible', 'delayed'], ['execution_exists']),
    active: either(['active'], ['execution_exists', 'execution_in_progress']),
    suspended: either(['suspended'], ['execution_exists', 'execution_in_progress']),
    ended: either(['ended', 'eligible', 'delayed'], ['execution_exists']),
  },
  claimForWorker: {
    absent: to('absent'),
    eligible: to('active', 'ended'),
    delayed: to('delayed', 'active', 'ended'),
    blocked: to('blocked', 'ended'),
    active: to('active', 'ended'),
    suspended: to('suspended', 'ended'),
    ended: to('ended'),
  },
  renewLease: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: whileHeld('active'),
    suspended: notHeld,
    ended: lost,
  },
  completeExecution: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: whileHeld('ended'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  failExecution: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: notHeld,
    active: whileHeld('delayed', 'eligible', 'ended'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  releaseExecution: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: notHeld,
    blocked: notHeld,
    active: whileHeld('eligible', 'ended'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  delayExecution: {
    absent: notFound,
    eligible: either(['eligible'], lost.refused),
    delayed: either(['delayed'], notHeld.refused),
    blocked: notHeld,
    active: whileHeld('delayed', 'eligible', 'ended'),
    suspended: notHeld,
    ended: either(['ended'], lost.refused),
  },
  updateProgress: {
    absent: notFound,
    eligible: lost,
    delayed: notHeld,
    blocked: notHeld,
    active: whileHeld('active'),
    suspended: notHeld,
    ended: lost,
  },
  cancelExecution: {
    absent: notFound,
    eligible: either(['ended'], lost.refused),
    delayed: either(['ended'], notHeld.refused),
    blocked: either(['ended'], notHeld.refused),
    active: whileHeld('active', 'ended'),
    suspended: either(['ended'], notHeld.refused),
    ended: either(['ended'], ['execution_ended']),
  },
  revokeLease: {
    absent: notFound,
    eligible: either(['eligible'], ['no_active_lease']),
    delayed: refuse('no_active_lease'),
    blocked: refuse('no_active_lease'),
    active: either(['eligible', 'ended'], ['stale_lease']),
    suspended: refuse('no_active_lease'),
    ended: either(['ended'], ['no_active_lease']),
  },
  changePriority: {
    ...untouched,
    absent: notFound,
    ended: refuse('execution_ended'),
  },
  setTags: {
    absent: notFound,
    eligible: either(['eligible'], ['invalid_input']),
    delayed: either(['delayed'], ['invalid_input']),
    blocked: either(['blocked'], ['invalid_input']),
    active: either(['active'], ['invalid_input']),
    suspended: either(['suspended'], ['invalid_input']),
    ended: either(['ended'], ['invalid_input']),
  },
  replayExecution: {
    absent: notFound,
    eligible: either(['eligible'], ['execution_not_ended']),
    delayed: refuse('execution_not_ended'),
    blocked: refuse('execution_not_ended'),
    active: refuse('execution_not_ended'),
    suspended: refuse('execution_not_ended'),
    ended: either(['eligible'], ['replays_exhausted']),
  },
  runDue: {
    absent: to('absent'),
    eligible: to('eligible', 'ended'),
    delayed: to('delayed', 'eligible', 'ended'),
    blocked: to('blocked', 'ended'),
    active: to('active', 'eligible', 'delayed', 'ended'),
    suspended: to('suspended', 'ended'),
    ended: to('ended'),
  },
  purgeExecutions: { ...untouched, absent: to('absent'), ended: to('ended', 'absent') },
  reconcileIndexes: { ...untouched, absent: to('absent') },
  describeExecution: { ...untouched, absent: notFound },
  listExecutions: { ...untouched, absent: to('absent') },
  countExecutions: { ...untouched, absent: to('absent') },
  explainExecution: { ...untouched, absent: notFound },
  inspectPartition: { ...untouched, absent: to('absent') },
}
