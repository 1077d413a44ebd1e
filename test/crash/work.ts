/** The mixed work of the crash test: each kind goes through another part of an execution's life. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { PermanentError, signal, task } from '../../src/client/index.ts'
import type { CancelOptions, SubmitOptions, Task, TaskContext, TaskSettings } from '../../src/client/index.ts'
import type { Outcome } from '../../src/kernel/index.ts'

export interface Work {
  readonly submitter: string
  readonly number: number
}

export interface Kind {
  readonly task: Task<Work, Work, string, string>
  /** How many of a hundred pieces of work are of this kind. */
  readonly share: number
  readonly run: (work: Work, context: TaskContext) => Promise<string> | string
  readonly submit: SubmitOptions
  /** When its submitter changes its mind, if it lives that long. */
  readonly cancel: ({ readonly afterMs: number } & CancelOptions) | undefined
  /** Whether its submitter, if it lives that long, sends it the signal `go`, twice. */
  readonly isTold: boolean
  /** How it may end, whatever is killed. */
  readonly outcomes: readonly Outcome[]
}

/** The result that belongs to one attempt of one piece of work, and to no other. */
export function answerTo(work: Work, { attempt }: Pick<TaskContext, 'attempt'>): string {
  return `${keyOf(work)} by attempt ${attempt}`
}

/** The id under which a submitter submits a piece of work, also when it is not sure whether it has done so before. */
export function keyOf({ submitter, number }: Work): string {
  return `${submitter}:${number}`
}

interface KindOptions {
  readonly share: number
  readonly settings?: TaskSettings
  readonly submit?: SubmitOptions
  readonly cancel?: Kind['cancel']
  readonly isTold?: boolean
  readonly outcomes?: readonly Outcome[]
}

function kind(name: string, options: KindOptions, run: Kind['run']): Kind {
  const { share, settings, submit = {}, cancel, isTold = false, outcomes = ['completed'] } = options
  return { task: task<Work, string>(name, settings), share, run, submit, cancel, isTold, outcomes }
}

const soon = { attempts: 5, backoff: { kind: 'fixed', delay: 50 }, jitter: false } as const

/** Waits, or gives up at once when the attempt is to stop. */
async function work(ms: number, { signal }: TaskContext): Promise<void> {
  await sleep(ms, undefined, { signal })
}

/** Longer than any lease of these tests: it lives by being renewed. */
export const renewing = kind('renewing', { share: 5 }, async (of, context) => {
  await work(2_600, context)
  return answerTo(of, context)
})

export const kinds: readonly Kind[] = [
  kind('plain', { share: 40 }, answerTo),
  kind('delayed', { share: 10, submit: { delay: 700 } }, answerTo),
  kind('flaky', { share: 10, settings: { retry: soon } }, (of, context) => {
    if (context.failureCount < 2) throw new Error('It fails twice.')
    return answerTo(of, context)
  }),
  kind('hopeless', { share: 4, settings: { retry: soon }, outcomes: ['failed'] }, () => {
    throw new PermanentError('It can never succeed.')
  }),
  kind(
    'overrunning',
    // On a slow machine the later attempts may run out of time as well.
    { share: 5, settings: { retry: soon, timeout: { attempt: 400 } }, outcomes: ['completed', 'expired'] },
    async (of, context) => {
      if (context.failureCount === 0) await work(5_000, context)
      return answerTo(of, context)
    },
  ),
  kind('reporting', { share: 10 }, async (of, context) => {
    for (const percent of [25, 50, 75, 100]) {
      await context.progress(percent, answerTo(of, context))
      await work(60, context)
    }
    return answerTo(of, context)
  }),
  renewing,
  kind(
    'changed_mind',
    { share: 5, submit: { delay: '3s' }, cancel: { afterMs: 100 }, outcomes: ['cancelled', 'completed'] },
    answerTo,
  ),
  kind(
    'interrupted',
    { share: 5, cancel: { afterMs: 300 }, outcomes: ['cancelled', 'completed'] },
    async (of, context) => {
      await work(2_500, context)
      return answerTo(of, context)
    },
  ),
  kind(
    'stubborn',
    { share: 3, cancel: { afterMs: 300, grace: 400 }, outcomes: ['cancelled', 'completed'] },
    async (of, context) => {
      await sleep(1_500)
      return answerTo(of, context)
    },
  ),
  kind(
    'too_late',
    { share: 3, settings: { timeout: { total: 300 } }, submit: { delay: '30s' }, outcomes: ['expired'] },
    answerTo,
  ),
  kind('remembering', { share: 6 }, async (of, context) => {
    const drawn = await context.step('draw', () => randomUUID())
    await context.sleep('nap', 40)
    const kept = await context.step('keep', () => drawn)
    if (kept !== drawn) throw new PermanentError('A step that was recorded was done again.')
    return answerTo(of, context)
  }),
  kind('signalled', { share: 4, isTold: true }, async (of, context) => {
    // Its submitter may be dead by now.
    const first = await context.waitFor('go', signal('go', { timeout: 1_500 }))
    const again = await context.waitFor('again', signal('go', { timeout: 30 }))
    if (first.ok && again.ok) throw new PermanentError('A signal sent twice under one key was delivered twice.')
    return answerTo(of, context)
  }),
]

const wheel = kinds.flatMap((one) => Array.from({ length: one.share }, () => one))
/** Has no divisor in common with the wheel, so that neighbours are of different kinds and all have their turn. */
const WHEEL_STEP = 37

export function kindOf(work: Work): Kind {
  const chosen = wheel[(work.number * WHEEL_STEP) % wheel.length]
  if (chosen === undefined) throw new Error('The wheel is empty.')
  return chosen
}

/** What the bodies of handlers record of their work. */
export interface BodyEntry {
  readonly step: 'begun' | 'ended'
  readonly executionId: string
  readonly attempt: number
  readonly answer?: string
}

/** What a submitter records of its answers. */
export type SubmitterEntry =
  | { readonly step: 'acknowledged'; readonly number: number; readonly executionId: string }
  | { readonly step: 'cancelled'; readonly number: number; readonly answer: string }

/** The answer to a worker that insisted on an expired lease. */
export interface RogueEntry {
  readonly executionId: string
  /** A refusal's code, or what was done. */
  readonly answers: readonly string[]
}
