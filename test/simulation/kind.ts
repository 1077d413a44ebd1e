/** One kind of work: the task, what its handler does, what its submitter does afterwards, and how it may end. */
import { task } from '../../src/client/index.ts'
import type {
  CancelOptions,
  ExecutionHandle,
  SubmitOptions,
  Task,
  TaskContext,
  TaskSettings,
} from '../../src/client/index.ts'
import type { Outcome } from '../../src/kernel/index.ts'
import { sleep } from '../../src/runtime/index.ts'
import type { Runtime } from '../../src/runtime/index.ts'
import type { Chance } from './chance.ts'
import type { NotedCalls } from './journal-notes.ts'
import type { Scene as ClientScene } from './scene.ts'

/** What is kept no longer than this has to be purged before a world is through. */
export const SHORT_RETENTION_MS = 8_000

export interface Work {
  readonly name: string
  /** Of a form that not every program accepts. */
  readonly shape?: 'new' | 'wrong'
}

export type WorkTask = Task<Work, Work, string, string>

export interface Scene {
  readonly runtime: Runtime
  readonly context: TaskContext
  readonly work: Work
  /** Reports progress and remembers that it was taken. */
  readonly report: (percent: number) => Promise<void>
  /** Durable calls, and what they answered. */
  readonly calls: NotedCalls
}

export interface Kind {
  readonly name: string
  /** As programs define it that run after the deploy of a world. */
  readonly task: WorkTask
  /** As programs define it that run before. */
  readonly earlier: WorkTask
  /** Clients submit one of these. */
  readonly submitted: readonly WorkTask[]
  /** The shape of its input; a plain one if it is undefined. */
  readonly shape: Work['shape']
  readonly submit: (chance: Chance) => SubmitOptions
  /** Does the work; the caller interprets the result. `fallback` must never become the result of an execution. */
  readonly run: (scene: Scene) => Promise<unknown>
  /** What its submitter does afterwards. */
  readonly then: Afterwards
  /** How it may end, whatever befalls the fleet. */
  readonly outcomes: readonly Outcome[]
  /** No worker serves it: it may wait for ever. */
  readonly isUnserved: boolean
}

export type Afterwards =
  | { readonly kind: 'nothing' | 'wait' | 'replay' | 'set_tags' | 'change_priority' | 'revoke' }
  /** Submits it again until its id is free. */
  | { readonly kind: 'resubmit' }
  /** Others submit under the same id, each with another input, to run one after the other. One of them may cancel it. */
  | { readonly kind: 'follow'; readonly count: number; readonly isCancelled: boolean }
  | { readonly kind: 'cancel'; readonly afterMs: number; readonly options: CancelOptions }
  /** Sends it signals until they are acknowledged. */
  | { readonly kind: 'act'; readonly act: (handle: ExecutionHandle<string>, scene: ClientScene) => Promise<void> }
  /** Many more are submitted at once. */
  | { readonly kind: 'crowd'; readonly count: number }
  /** Others submit under the same id. */
  | { readonly kind: 'share'; readonly ifExists: 'join' | 'replace' | 'reject' }

interface KindOptions {
  readonly settings?: TaskSettings
  readonly task?: WorkTask
  readonly earlier?: WorkTask
  readonly submitted?: readonly WorkTask[]
  readonly shape?: Work['shape']
  readonly submit?: (chance: Chance) => SubmitOptions
  readonly then?: Afterwards
  readonly outcomes?: readonly Outcome[]
  readonly isUnserved?: boolean
}

export function kind(name: string, options: KindOptions, run: Kind['run'] = brief): Kind {
  const {
    settings,
    task: current = task<Work, string>(name, settings),
    earlier = current,
    submitted = [current],
    shape,
    submit = () => ({}),
    then = { kind: 'nothing' },
    outcomes = ['completed'],
    isUnserved = false,
  } = options
  return { name, task: current, earlier, submitted, shape, submit, run, then, outcomes, isUnserved }
}

/** Waits, and gives up at once when the attempt is to stop. */
export async function obey({ runtime, context }: Scene, ms: number): Promise<void> {
  await sleep(runtime, ms, context.signal)
  context.signal.throwIfAborted()
}

/** Mostly short, and at times longer than a lease. */
export async function brief(scene: Scene): Promise<void> {
  const chance = scene.runtime.random()
  await obey(scene, chance < 0.7 ? 20 : 20 + 2_000 * chance * chance)
}
