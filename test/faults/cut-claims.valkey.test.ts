import { expect, test } from 'vitest'
import { mintExecutionId, prepareSubmit, task } from '../../src/client/index.ts'
import { payloadKey } from '../../src/kernel/index.ts'
import type { ExecutionId } from '../../src/kernel/index.ts'
import { silentLog } from '../../src/runtime/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
import { claim } from '../../src/stores/store.fixture.ts'
import { Keys } from '../../src/stores/valkey/layout/keys.ts'
import { createFabric } from '../../src/fabric/index.ts'
import type { Fabric } from '../../src/fabric/index.ts'
import { startServer } from '../servers/server.ts'
import type { Server } from '../servers/server.ts'
import { startRelay } from './relay.ts'
import type { Relay, Request } from './relay.ts'

const PARTITION = executionPartition(0)
const PAYLOAD_BYTES = 300_000
const large = task<string, string>('large')
const claimInput = claim({ queues: [{ lane: 'default', class: 'large' }], count: 3 })

/** A commit that stands behind the read of the blobs that its answers carry. */
const commitBehindRead: Request = {
  find: (bytes) => {
    const read = bytes.indexOf('\r\nMGET\r\n')
    const commit = read === -1 ? -1 : bytes.indexOf('_commit', read)
    return commit === -1 ? undefined : bytes.lastIndexOf('*', commit)
  },
  // The list that a commit that was applied is answered with.
  findAnswer: (bytes) => {
    const at = bytes.indexOf('*5\r\n:0\r\n')
    return at === -1 ? undefined : at
  },
}

class Place implements AsyncDisposable {
  readonly server: Server
  readonly relay: Relay
  /** Reaches the server through the relay, as the claimer does. */
  readonly claimer: Fabric
  /** Reaches the server directly. */
  readonly other: Fabric

  private constructor(server: Server, relay: Relay, claimer: Fabric, other: Fabric) {
    this.server = server
    this.relay = relay
    this.claimer = claimer
    this.other = other
  }

  static async start(): Promise<Place> {
    const server = await startServer()
    const relay = await startRelay(server.address)
    const through = server.location.replace(`:${server.port}`, `:${relay.port}`)
    const claimer = await createFabric(through, { log: silentLog })
    return new Place(server, relay, claimer, await createFabric(server.location, { log: silentLog }))
  }

  /** Submits an execution, or replaces it. */
  async submit(executionId: ExecutionId, letter: string, ifExists: 'join' | 'replace' = 'join'): Promise<void> {
    const ids = { executionId, requestId: this.other.runtime.uuid() }
    const item = { task: large, input: letter.repeat(PAYLOAD_BYTES) }
    const { input, blobs } = await prepareSubmit(item, ids, { namespace: 'default', indexedTags: [] })
    const call: Call = { operation: 'createExecution', input: { ...input, ifExists }, blobs }
    expect(await this.other.store.run(PARTITION, [call])).toMatchObject([{ kind: 'answered' }])
  }

  async submitAll(letters: string): Promise<ExecutionId[]> {
    const ids = Array.from(letters, () => mintExecutionId(0, this.other.runtime))
    for (const [i, id] of ids.entries()) await this.submit(id, letters.charAt(i))
    return ids
  }

  /** Claims, and answers the letter of each payload; `?` for one that is missing. */
  async claim(repeated = false): Promise<string> {
    const call: Call = { operation: 'claimForWorker', input: { ...claimInput, repeated }, blobs: [] }
    const [answer] = await this.claimer.store.run(PARTITION, [call])
    const { result, blobs } = answer as Answer<'claimForWorker'> & { kind: 'answered' }
    const letters = result.executions.map(({ executionId, payload, payloadBlob }) => {
      const bytes = blobs[payloadBlob ?? -1]
      expect(bytes?.byteLength ?? payload?.size).toBe(PAYLOAD_BYTES + 2)
      return { executionId, letter: bytes === undefined ? '?' : String.fromCharCode(bytes[1] ?? 0) }
    })
    letters.sort((a, b) => (a.executionId < b.executionId ? -1 : 1))
    return letters.map(({ letter }) => letter).join('')
  }

  async removePayload(executionId: ExecutionId): Promise<void> {
    const key = new Keys('ff', 0).key(PARTITION, 'blob', payloadKey(executionId))
    expect(await this.server.call('DEL', key)).toBe(1)
  }

  async startedCount(): Promise<number> {
    const { events } = await this.other.store.dump(PARTITION)
    return events.filter(({ type }) => type === 'attempt_started').length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.claimer.close()
    await this.other.close()
    await this.relay[Symbol.asyncDispose]()
    await this.server.stop()
  }
}

test.each([
  { place: 'before', meaning: 'between the read of its payloads and its commit', started: 0 },
  { place: 'before_answer', meaning: 'between the payloads and the answer to its commit', started: 3 },
  { place: 'after', meaning: 'behind its commit', started: 3 },
] as const)('a claim that loses its connection $meaning is repeated with all payloads', async ({ place, started }) => {
  await using at = await Place.start()
  await at.submitAll('abc')

  at.relay.cutNext({ request: commitBehindRead, place })
  const unanswered = await at.claim().catch((error: unknown) => error)
  const startedBefore = await at.startedCount()
  const letters = await at.claim(true)

  expect(at.relay.cutCount).toBe(1)
  expect(unanswered).toMatchObject({ code: 'store_unavailable' })
  expect(startedBefore).toBe(started)
  expect(letters).toBe('abc')
  expect(await at.startedCount()).toBe(3)
})

test('a payload that is replaced between its read and the commit is read again', async () => {
  await using at = await Place.start()
  const [, second] = await at.submitAll('abc')

  const held = at.relay.holdNext(commitBehindRead)
  const claiming = at.claim()
  const release = await held
  await at.submit(second!, 'x', 'replace')
  release()

  expect(await claiming).toBe('axc')
  expect(await at.startedCount()).toBe(3)
})

test('a payload that vanishes is handed out if it was read, and else is missing in the answer of its claim', async () => {
  await using at = await Place.start()
  const [first, second] = await at.submitAll('abc')
  await at.removePayload(first!)

  const held = at.relay.holdNext(commitBehindRead)
  const claiming = at.claim()
  const release = await held
  await at.removePayload(second!)
  release()

  expect(await claiming).toBe('?bc')
  expect(await at.startedCount()).toBe(3)
  expect(await at.claim(true)).toBe('??c')
})
