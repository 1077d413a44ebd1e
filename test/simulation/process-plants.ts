/** Mistakes outside the kernel: in a worker, an engine, a client or a store. */
import { EventReader } from '../../src/client/events/event-reader.ts'
import { Runner } from '../../src/engine/runner/runner.ts'
import { Schedule } from '../../src/engine/runner/schedule.ts'
import type { OperationInput, StepKind } from '../../src/kernel/index.ts'
import type { Answer, Call, EventPage } from '../../src/stores/store.ts'
import { Claimer } from '../../src/worker/claim/claimer.ts'
import { LeasedExecution } from '../../src/worker/lease/leased-execution.ts'
import { LeaseKeeper } from '../../src/worker/lease/lease-keeper.ts'
import { Slots } from '../../src/worker/claim/slots.ts'
import { StepJournal } from '../../src/worker/steps/step-journal.ts'
import type { Plant } from './plant.ts'

/** Puts another method in the place of one; answers how to put the right one back. */
export function changeMethod<C extends object>(prototype: C, name: keyof C, wrong: unknown): () => void {
  const right = prototype[name]
  Object.assign(prototype, { [name]: wrong })
  return () => void Object.assign(prototype, { [name]: right })
}

/** Makes getters return false; answers how to put the right ones back. */
function changeGetters<C extends object>(prototype: C, names: readonly (keyof C)[]): () => void {
  const right = names.map((name) => Object.getOwnPropertyDescriptor(prototype, name) ?? {})
  for (const name of names) Object.defineProperty(prototype, name, { get: () => false, configurable: true })
  return () => names.forEach((name, i) => Object.defineProperty(prototype, name, right[i] ?? {}))
}

export function method<C extends object, N extends keyof C>(prototype: C, name: N): C[N] {
  return prototype[name]
}

export const processPlants: readonly Plant[] = [
  {
    name: 'wake_ups_without_sweep',
    mistake: 'workers rely on wake-ups alone, and some are lost',
    workerOptions: { sweep: '12h' },
  },
  {
    name: 'acknowledged_unwritten',
    mistake: 'the last call of a batch is acknowledged and not run, if it is a submit',
    changeStore: (store) => {
      const run = store.run.bind(store)
      store.run = async (partition, calls) => {
        const last = calls.at(-1)
        if (calls.length < 2 || last?.operation !== 'createExecution') return await run(partition, calls)
        return [...(await run(partition, calls.slice(0, -1))), pretendedCreate(last)]
      }
    },
  },
  {
    name: 'leases_not_renewed',
    mistake: 'a worker never renews its leases',
    plant: () => changeMethod(LeaseKeeper.prototype, 'renew', () => Promise.resolve()),
  },
  {
    name: 'unanswered_claim_forgotten',
    mistake: 'a worker neither repeats nor gives up a claim that was not answered',
    plant: () => changeMethod(Claimer.prototype, 'unanswered', () => undefined),
  },
  {
    name: 'engine_stands_still',
    mistake: 'an engine never makes a pass',
    plant: () => changeMethod(Runner.prototype, 'run', () => Promise.resolve()),
  },
  {
    name: 'timers_not_followed',
    mistake: 'an engine comes once per cycle only, whatever timers run out between',
    plant: () => changeMethod(Schedule.prototype, 'visitAt', () => undefined),
  },
  {
    name: 'slot_not_freed',
    mistake: 'a worker loses a slot with each execution that was cancelled while it ran',
    plant: () => {
      const right = method(Slots.prototype, 'free')
      return changeMethod(Slots.prototype, 'free', function (this: Slots, held: LeasedExecution) {
        if (held.pendingCancel === undefined) right.call(this, held)
      })
    },
  },
  {
    name: 'stop_decides_an_outcome',
    mistake: 'a handler that throws because its worker stops has failed its execution',
    plant: () => changeGetters(LeasedExecution.prototype, ['isInterrupted', 'isInterruptionDelivered']),
  },
  {
    name: 'stop_keeps_a_fallback',
    mistake: 'a fallback that a handler returns because its worker stops is the result of its execution',
    plant: () => changeGetters(LeasedExecution.prototype, ['isInterruptionDelivered']),
  },
  {
    name: 'compensation_repeated',
    mistake: 'a worker does not find the records of compensations, and runs them again',
    plant: () => {
      const right = method(StepJournal.prototype, 'find')
      return changeMethod(
        StepJournal.prototype,
        'find',
        async function (this: StepJournal, kind: StepKind, name: string) {
          const found = await right.call(this, kind, name)
          return name.endsWith('#undo') && found?.step.state.phase === 'completed' ? undefined : found
        },
      )
    },
  },
  {
    name: 'event_passed_over',
    mistake: 'an event reader misses one after a full page of three',
    plant: () => {
      const right = method(EventReader.prototype, 'advance')
      return changeMethod(EventReader.prototype, 'advance', function (this: EventReader, page: EventPage) {
        right.call(this, page)
        if (page.events.length === 3) this.position += 1
      })
    },
  },
]

function pretendedCreate(call: Call): Answer {
  const { executionId } = call.input as OperationInput<'createExecution'>
  return { kind: 'answered', result: { kind: 'created', executionId, state: 'waiting', at: 0 }, blobs: [] }
}
