/** Fabrics and stores on real servers, as the tests of this suite need them. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { mintExecutionId, prepareSubmit, task } from '../../src/client/index.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import type { Log, LogFields } from '../../src/runtime/index.ts'
import type { EngineError } from '../../src/kernel/engine-error.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import type { OpenStoreOptions } from '../../src/stores/open/open-store.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Store } from '../../src/stores/store.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { FabricOptions } from '../../src/fabric/fabric.ts'
import { serverLocations } from '../servers/server-locations.ts'
import type { ServerLocations } from '../servers/shared-servers.ts'

const runtime = systemRuntime()

const greet = task<string, string>('greet')
const greetHandler = greet.handle((name) => `Hello, ${name}`)

/** The servers of the suite. What a test keeps there needs a prefix of its own. */
export function locations(): ServerLocations {
  const found = serverLocations()
  if (found === undefined) throw new Error('These tests cannot do without servers.')
  return found
}

/** A unique prefix. */
export function newPrefix(): string {
  return `test:${randomUUID()}`
}

/** A store that is closed when the test ends, if the test has not closed it. */
export async function open(location: string, options: Partial<OpenStoreOptions> = {}): Promise<Store> {
  const store = await openStore(location, { runtime, ...options })
  onTestFinished(() => store.close())
  return store
}

/** A log that can be read. */
export class LogLines implements Log {
  readonly #lines: { readonly level: keyof Log; readonly message: string }[] = []

  debug = this.#keep('debug')
  info = this.#keep('info')
  warn = this.#keep('warn')
  error = this.#keep('error')

  /** The messages of one level, in their order. */
  at(level: keyof Log): string[] {
    return this.#lines.filter((line) => line.level === level).map(({ message }) => message)
  }

  #keep(level: keyof Log): (fields: LogFields, message: string) => void {
    return (_fields, message) => void this.#lines.push({ level, message })
  }
}

/** What opening a store is refused with. */
export async function refusalOf(location: string, options: Partial<OpenStoreOptions> = {}): Promise<EngineError> {
  const opening = openStore(location, { runtime, ...options })
  return await opening.then(
    async (store) => {
      await store.close()
      return expect.fail('the store was opened')
    },
    (error: unknown) => error as EngineError,
  )
}

/** Submits, claims, runs and completes one execution in a fabric of its own, and answers what it came to. */
export async function lifeOn(location: string, options: FabricOptions = {}): Promise<string> {
  const fabric = await createFabric(location, { log: 'error', ...options })
  try {
    await fabric.work([greetHandler])
    const execution = await fabric.submit(greet, 'Ada')
    return await execution.result()
  } finally {
    await fabric.close()
  }
}

/** Puts an execution into a partition. */
export async function submitInto(store: Store, partitionNumber: number): Promise<void> {
  const ids = { executionId: mintExecutionId(partitionNumber, runtime), requestId: runtime.uuid() }
  const setting = { namespace: 'default', indexedTags: [] }
  const { input, blobs } = await prepareSubmit({ task: greet, input: 'Ada' }, ids, setting)
  const [answer] = await store.run(executionPartition(partitionNumber), [
    { operation: 'createExecution', input, blobs },
  ])
  expect(answer).toMatchObject({ result: { kind: 'created' } })
}

/** How many executions all partitions of a store have. */
export async function countIn(store: Store): Promise<number> {
  let count = 0
  for (let number = 0; number < store.settings.executionPartitions; number++) {
    const [answer] = await store.run(executionPartition(number), [
      { operation: 'inspectPartition', input: { limit: 1_000 }, blobs: [] },
    ])
    if (answer?.kind === 'answered' && 'executions' in answer.result) count += Number(answer.result.executions)
  }
  return count
}
