/**
 * Wraps a handler so that a watcher can pause it at each of its steps, waits and sleeps. A crashed worker is simulated by a pause
 * that never ends.
 */
import type { Handler, StepContext, StepFunction, StepOptions, TaskContext } from '../client/index.ts'
import type { Jsonify } from '../client/define/jsonify.ts'
import { sleepOf } from '../client/define/sleep-arguments.ts'
import type { SleepArguments } from '../client/define/sleep-arguments.ts'
import { WAITABLE } from '../client/define/waitable.ts'
import type { NamedWaitable, Waitable } from '../client/define/waitable.ts'
import type { CrashMoment } from './crash-points.ts'

export interface StepWatcher {
  /** Resolves when the handler may continue; never, if its worker has crashed. */
  readonly reach: (moment: CrashMoment, executionId: string, step: string) => Promise<void>
  /** The same, where no crash can be requested. */
  readonly continueUnlessCrashed: () => Promise<void>
  /** Counts a run of the work of a step. */
  readonly countRun: (executionId: string, step: string) => void
}

export function observeHandler(handler: Handler, watcher: StepWatcher): Handler {
  return { ...handler, run: (input, context) => handler.run(input, observeContext(context, watcher)) }
}

type StepRest<Value> = [StepFunction<Value>] | [StepOptions, StepFunction<Value>]
type WaitArguments<Answer> =
  [waitable: NamedWaitable<Answer>, none?: undefined] | [name: string, waitable: Waitable<Answer>]
type Watched = Pick<TaskContext, 'step' | 'sleep' | 'sleepUntil' | 'waitFor' | 'waitpoint' | 'compensate' | ChildCall>
/** Calls that start children or wait for them. */
type ChildCall = 'call' | 'spawn' | 'all' | 'settled' | 'any' | 'quorum'

/** A proxy, so that the other parts of the context stay lazy. */
function observeContext(context: TaskContext, watcher: StepWatcher): TaskContext {
  const watched = watchedCalls(context, watcher)
  return new Proxy(context, {
    get: (target, key) => {
      const source: object = Object.hasOwn(watched, key) ? watched : target
      return Reflect.get(source, key) as unknown
    },
  })
}

function watchedCalls(context: TaskContext, watcher: StepWatcher): Watched {
  const { executionId } = context
  const numberedSleep = numbering()
  const numberedWait = numbering()
  const numberedChild = numbering()
  const numberedJoin = numbering()

  async function step<Value>(name: string, ...rest: StepRest<Value>): Promise<Jsonify<Value>> {
    const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest
    let recordedAs: string | undefined
    const observed = async (work: StepContext): Promise<Value> => {
      await watcher.reach('before', executionId, work.name)
      watcher.countRun(executionId, work.name)
      recordedAs = work.name
      try {
        return await run(work)
      } finally {
        await watcher.reach('during', executionId, work.name)
      }
    }
    try {
      return await context.step(name, options, observed)
    } finally {
      // A step whose value was already recorded is no crash point.
      await (recordedAs === undefined
        ? watcher.continueUnlessCrashed()
        : watcher.reach('after', executionId, recordedAs))
    }
  }

  /** A compensation runs after the handler, so its record is no crash point. */
  async function compensate(name: string, ...rest: StepRest<unknown>): Promise<void> {
    const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest
    await context.compensate(name, options, async (work) => {
      await watcher.reach('before', executionId, work.name)
      watcher.countRun(executionId, work.name)
      try {
        await run(work)
      } finally {
        await watcher.reach('during', executionId, work.name)
      }
    })
  }

  /** Observes a call that has no work of its own. */
  async function observeWait<Value>(name: string, call: () => Promise<Value>): Promise<Value> {
    await watcher.reach('before', executionId, name)
    try {
      return await call()
    } finally {
      await watcher.reach('after', executionId, name)
    }
  }

  /** Observes a call for children. `ctx.call` is one with the name of its child. */
  const observeChild =
    (what: 'call' | 'spawn') =>
    (name: string, ...rest: readonly unknown[]) => {
      const numbered = numberedChild(name)
      return catchUnhandled(observeWait(numbered, () => calledBy(context, what, [name, ...rest])))
    }
  const observeJoin =
    (what: Exclude<ChildCall, 'call' | 'spawn'>) =>
    (...parts: readonly unknown[]) => {
      const [first] = parts
      const numbered = numberedJoin(typeof first === 'string' ? first : what)
      return catchUnhandled(observeWait(numbered, () => calledBy(context, what, parts)))
    }

  return {
    step: <Value>(name: string, ...rest: StepRest<Value>) => catchUnhandled(step(name, ...rest)),
    compensate: (name: string, ...rest: StepRest<unknown>) => catchUnhandled(compensate(name, ...rest)),
    sleep: (name, duration) => catchUnhandled(observeWait(numberedSleep(name), () => context.sleep(name, duration))),
    sleepUntil: (...given: SleepArguments) => {
      const [name, date] = sleepOf(given)
      return catchUnhandled(observeWait(numberedSleep(name), () => context.sleepUntil(name, date)))
    },
    waitFor: <Answer>(...given: WaitArguments<Answer>) =>
      catchUnhandled(observeWait(numberedWait(nameOfWait(given)), () => waitFor(context, given))),
    waitpoint: (key, options) => catchUnhandled(observeWait(key, () => context.waitpoint(key, options))),
    call: observeChild('call') as Watched['call'],
    spawn: observeChild('spawn') as Watched['spawn'],
    all: observeJoin('all') as Watched['all'],
    settled: observeJoin('settled') as Watched['settled'],
    any: observeJoin('any') as Watched['any'],
    quorum: observeJoin('quorum') as Watched['quorum'],
  }
}

function nameOfWait([first, second]: WaitArguments<unknown>): string {
  return second === undefined ? first[WAITABLE].name : first
}

function waitFor<Answer>(context: TaskContext, given: WaitArguments<Answer>): Promise<Answer> {
  const [first, second] = given
  return second === undefined ? context.waitFor(first) : context.waitFor(first, second)
}

/** The context checks the arguments itself. */
function calledBy(context: TaskContext, what: ChildCall, parts: readonly unknown[]): Promise<unknown> {
  const call = context[what] as (...parts: readonly unknown[]) => Promise<unknown>
  return call(...parts)
}

/** Prevents an unhandled rejection if the handler does not await its call. */
function catchUnhandled<Value>(call: Promise<Value>): Promise<Value> {
  call.catch(() => undefined)
  return call
}

/** Numbers repeated names as the worker does. */
function numbering(): (name: string) => string {
  const counts = new Map<string, number>()
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count === 1 ? name : `${name}#${count}`
  }
}
