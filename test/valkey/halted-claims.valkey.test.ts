import { describe, expect, onTestFinished, test } from 'vitest'
import { DUE_HIDDEN_MS } from '../../src/kernel/index.ts'
import type { OperationInput, OperationName, OperationResult } from '../../src/kernel/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { PARTITION, call, claim, creation } from '../../src/stores/store.fixture.ts'
import type { Store } from '../../src/stores/store.ts'
import { ValkeyStore } from '../../src/stores/valkey/valkey-store.ts'
import type { Backend } from '../../src/stores/working-set/commit/backend.ts'
import { until } from '../servers/until.ts'
import { locations, newPrefix, open } from './fabrics.ts'

const RESERVED_MS = 20
const WITHIN_MS = 5_000
const ATTEMPTS_MAX = 50

/** A process that claims and then halts, before it commits. */
class HaltingProcess {
  readonly #store: Store
  readonly #loadedAt: Promise<number>

  private constructor(store: Store, loadedAt: Promise<number>) {
    this.#store = store
    this.#loadedAt = loadedAt
  }

  static async open(place: string): Promise<HaltingProcess> {
    const loaded = Promise.withResolvers<number>()
    const wrapBackend = (backend: Backend): Backend => ({
      load: async (request) => {
        const reply = await backend.load(request)
        loaded.resolve(reply.now)
        return reply
      },
      commit: () => new Promise(() => undefined),
    })
    const location = parseLocation(place)
    if (location.kind !== 'valkey') throw new Error(`${place} is not the location of a server.`)
    const store = await ValkeyStore.open({
      runtime: systemRuntime(),
      location,
      indexedTags: undefined,
      wrapBackend,
    })
    onTestFinished(() => store.close())
    return new HaltingProcess(store, loaded.promise)
  }

  /** Returns when it was shown what is ready and due, by the server's clock. */
  async claim(): Promise<number> {
    void this.#store.run(PARTITION, [call('claimForWorker', claim())])
    return await this.#loadedAt
  }
}

async function run<N extends OperationName>(
  store: Store,
  operation: N,
  input: OperationInput<N>,
): Promise<OperationResult<N>> {
  const [answer] = await store.run(PARTITION, [call(operation, input)])
  if (answer?.kind !== 'answered') throw new Error(`${operation} was not answered: ${JSON.stringify(answer)}`)
  return answer.result as OperationResult<N>
}

const pass = { limit: 100, seed: 1 }

describe.each(['valkey', 'redis'] as const)('on %s, due work that was shown to a process that halts', (program) => {
  /** Answers what others see right behind the claim of the process. On a busy machine that takes more than one attempt. */
  async function meanwhile<N extends OperationName>(operation: N, input: OperationInput<N>) {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const place = `${locations()[program]}?prefix=${newPrefix()}`
      const store = await open(place)
      const halting = await HaltingProcess.open(place)
      const created = creation({ delayMs: 1 })
      await run(store, 'createExecution', created)
      // Server and test share a clock.
      const dueAt = Date.now() + 2
      await until('its time has come', WITHIN_MS, async () => Date.now() > dueAt || undefined)

      const shownAt = await halting.claim()
      const result = (await run(store, operation, input)) as OperationResult<N> & { readonly at: number }
      if (result.at < shownAt + RESERVED_MS) return { store, result, executionId: created.executionId }
    }
    throw new Error(`The server never answered within ${RESERVED_MS} ms.`)
  }

  test('is hidden from another claim, which answers that there may be more', async () => {
    const { store, result, executionId } = await meanwhile('claimForWorker', claim())

    expect(result).toMatchObject({ executions: [], more: true })
    const [claimed] = await until('it is seen', WITHIN_MS, async () => {
      const { executions } = await run(store, 'claimForWorker', claim())
      return executions.length > 0 ? executions : undefined
    })
    expect(claimed?.executionId).toBe(executionId)
  })

  test('is hidden from a due pass, which comes back for it', async () => {
    const { store, result, executionId } = await meanwhile('runDue', pass)

    expect(result).toMatchObject({ handled: [], next: undefined, nextDueAt: result.at + DUE_HIDDEN_MS })
    const handled = await until('it is seen', WITHIN_MS, async () => {
      const later = await run(store, 'runDue', pass)
      return later.handled.length > 0 ? later.handled : undefined
    })
    expect(handled).toEqual([{ case: 'delayed_promoter', executionId }])
  })
})
