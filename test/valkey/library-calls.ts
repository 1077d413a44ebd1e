/** Calls of the function library on real servers, with records whose bodies are JSON. */
import { randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import type { AnyRecord, FabricEvent, RecordType } from '../../src/kernel/index.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type {
  ClearCondition,
  Commit,
  CommitReply,
  Condition,
  LoadReply,
  LoadRequest,
  OfOperation,
} from '../../src/stores/working-set/commit/backend.ts'
import { Needs } from '../../src/stores/working-set/load/needs.ts'
import { UNREADABLE } from '../../src/stores/working-set/overlay/stored-data.ts'
import type { BlobWrite, EntryWrite, StoredRecord } from '../../src/stores/working-set/overlay/stored-data.ts'
import { WorkingSet } from '../../src/stores/working-set/load/working-set.ts'
import { ReadyCommand, ReadyRead } from '../../src/stores/valkey/wire/bytes-command.ts'
import { CallWriter } from '../../src/stores/valkey/wire/call-writer.ts'
import { readCommit, writeCommit } from '../../src/stores/valkey/wire/commit-call.ts'
import type { StoredForm } from '../../src/stores/valkey/layout/stored-value.ts'
import { Keys, keyKinds } from '../../src/stores/valkey/layout/keys.ts'
import { readLoad, writeLoad } from '../../src/stores/valkey/wire/load-call.ts'
import { functionLibrary } from '../../src/stores/valkey/library/library.ts'
import type { FunctionNames } from '../../src/stores/valkey/wire/function-names.ts'
import { connectTo } from '../servers/connection.ts'
import { newPrefix } from './fabrics.ts'

export const PARTITION = executionPartition(3)
export const SENDER = 'this process'
const ATTEMPTS_MAX = 50

/** Whatever a test keeps in a record; `brings` names the flows that it brings along. */
export interface TestRecord {
  readonly type: RecordType
  readonly id: string
  readonly text?: string
  readonly brings?: readonly string[]
}

/** Bodies in JSON. Entries of `out<0x1F>a` name the edge from a and the execution it leads to, others an execution. */
export const jsonForm: StoredForm = {
  writeBody: (record, writer) => {
    writer.bytes(latin1Of(record))
  },
  readBody: (_type, _id, bytes, start) => JSON.parse(bytes.toString('utf8', start)) as AnyRecord,
  entriesOf: () => [],
  writeEventBody: ({ at: _, ...event }, writer) => {
    writer.bytes(latin1Of(event))
  },
  readEventBody: (bytes, start, at) => ({ ...(JSON.parse(bytes.toString('utf8', start)) as FabricEvent), at }),
  recordsReadAfter: (record) => ((record as TestRecord).brings ?? []).map((id) => ({ type: 'flow', id })),
  namedBy(index) {
    const execution = { type: 'execution', before: '', after: '' } as const
    const [kind, upstream = ''] = index.split('\u001f')
    return kind === 'out' ? [{ type: 'edge', before: `${upstream}\u001f`, after: '' }, execution] : [execution]
  },
}

/** The bytes of its JSON, one for each character. */
function latin1Of(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('latin1')
}

export function newVersion(): string {
  return randomBytes(8).toString('latin1')
}

export function record(id: string, more: Partial<TestRecord> = {}): AnyRecord {
  return { type: 'execution', id, ...more } as unknown as AnyRecord
}

export function event(type: FabricEvent['type'], executionId: string): FabricEvent {
  return { type, executionId } as unknown as FabricEvent
}

export type Expected = Omit<Condition, keyof OfOperation>

/** What one operation checks and writes, so that it is a group of its own. */
export interface Group {
  readonly conditions: readonly Expected[]
  readonly clear: readonly Omit<ClearCondition, keyof OfOperation>[]
  readonly records: readonly {
    readonly type: RecordType
    readonly id: string
    readonly record: AnyRecord | undefined
  }[]
  readonly entries: readonly EntryWrite[]
  readonly blobs: readonly BlobWrite[]
  readonly events: readonly FabricEvent[]
  readonly sends: readonly string[]
}

export function group(more: Partial<Group>): Group {
  return { conditions: [], clear: [], records: [], entries: [], blobs: [], events: [], sends: [], ...more }
}

function contentOf(groups: readonly Group[]) {
  const all = <T, R extends object>(of: (group: Group) => readonly T[], item: (one: T) => R) =>
    groups.flatMap((group, operation) => of(group).map((one) => ({ ...item(one), operation })))
  const entries = all(
    (group) => group.entries,
    (entry) => entry,
  )
  const records = all(
    (group) => group.records,
    (put) => ({ ...put, entries: undefined, length: 0 }),
  )
  return {
    groupCount: groups.length,
    groupOf: groups.map((_, group) => group),
    conditions: all(
      (group) => group.conditions,
      (condition) => ({
        ...condition,
        put: records.find(({ type, id }) => type === condition.type && id === condition.id),
      }),
    ),
    clear: all(
      (group) => group.clear,
      (condition) => condition,
    ),
    records,
    entries: [...Map.groupBy(entries, ({ index }) => index).values()].flat(),
    blobs: all(
      (group) => group.blobs,
      (blob) => blob,
    ),
    events: all(
      (group) => group.events,
      (event) => ({ event }),
    ),
    sends: all(
      (group) => group.sends,
      (key) => ({ key }),
    ),
  }
}

export function absent(id: string, type: RecordType = 'execution'): Expected {
  return { type, id, version: undefined, length: 0 }
}

export function put(id: string, more: Partial<TestRecord> = {}) {
  return { type: more.type ?? 'execution', id, record: record(id, more) } as const
}

export function entry(index: string, id: string, after: number | undefined) {
  return { index, id, before: undefined, after }
}

export function needs(fill: (needs: Needs) => void): Needs {
  const all = new Needs()
  fill(all)
  return all
}

/**
 * Calls that are sent together and answered within a time, so that nothing expires between them. Where the machine was too
 * busy for that, they are made again by a fresh attempt.
 */
export async function within<T extends readonly { readonly now: number }[] | []>(
  limitMs: number,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const replies = await attempt()
    const times = replies.map(({ now }) => now)
    if (Math.max(...times) - Math.min(...times) < limitMs) return replies
  }
  throw new Error(`The server never answered within ${limitMs} ms.`)
}

/** One partition of a store of its own, with the library on its server. */
export class LibraryPartition {
  readonly keys = new Keys(newPrefix(), 0)
  readonly server: Redis
  readonly functions: FunctionNames

  private constructor(server: Redis, functions: FunctionNames) {
    this.server = server
    this.functions = functions
  }

  static async open(location: string): Promise<LibraryPartition> {
    const { hostname, port } = new URL(location)
    const address = { host: hostname, port: Number(port) }
    const server = await connectTo({ ...address, username: undefined, password: undefined, certificate: undefined })
    onTestFinished(() => server.disconnect())
    const { name, text, functions } = await functionLibrary()
    const found = await server.call('FUNCTION', 'LIST', 'LIBRARYNAME', name)
    if (Array.isArray(found) && found.length === 0) {
      await server.call('FUNCTION', 'LOAD', text).catch((error: unknown) => {
        if (!String(error).includes('already exists')) throw error
      })
    }
    return new LibraryPartition(server, functions)
  }

  key(kind: keyof typeof keyKinds | 'events5' | 'trimmed5', id = ''): string {
    const prefix = this.keys.partition(PARTITION)
    return kind in keyKinds ? prefix + keyKinds[kind as keyof typeof keyKinds] + id : prefix + kind
  }

  async fcall(name: keyof FunctionNames, args: readonly (string | number | Buffer)[]): Promise<unknown> {
    const keys = [this.keys.partition(PARTITION), this.keys.channels(PARTITION)]
    return await this.server.callBuffer('FCALL', this.functions[name], keys.length, ...keys, ...args)
  }

  async load(
    wanted: Needs,
    more: Partial<Omit<LoadRequest, 'needs'>> = {},
  ): Promise<LoadReply & { readonly set: WorkingSet }> {
    const set = more.into ?? new WorkingSet()
    const request: LoadRequest = { partition: PARTITION, needs: wanted, into: set, ...more }
    const call = writeLoad(new CallWriter(), this.functions, this.keys, request, jsonForm)
    const reply = await this.server.sendCommand(new ReadyCommand(call))
    return { ...readLoad(reply, request, jsonForm), set }
  }

  async commit(groups: readonly Group[], more: Partial<Commit> = {}): Promise<CommitReply> {
    const commit: Commit = {
      partition: PARTITION,
      now: 1_000,
      lagMs: undefined,
      version: newVersion(),
      passesLock: false,
      finishesWork: false,
      ...contentOf(groups),
      reserved: [],
      holdersOf: [],
      grown: [],
      ...more,
    }
    const call = writeCommit(new CallWriter(), this.functions, this.keys, commit, jsonForm, SENDER)
    const found = call.read === undefined ? [] : await this.server.sendCommand(new ReadyRead(call.read))
    return readCommit(await this.server.sendCommand(new ReadyCommand(call)), found)
  }

  async now(): Promise<number> {
    return (await this.load(new Needs())).now
  }

  /** The condition that a record is as it stands now. */
  async asStored(id: string, type: RecordType = 'execution'): Promise<Expected> {
    const { set } = await this.load(needs((all) => all.record(type, id)))
    const stored = storedIn(set, type, id)
    return { type, id, version: stored?.version, length: stored?.length ?? 0 }
  }

  /** Everything that the partition keeps, as bytes. */
  async contents(): Promise<Record<string, unknown>> {
    const prefix = this.keys.partition(PARTITION)
    const names = await this.server.keys(`${prefix.replaceAll(/[*?[\]\\]/g, '\\$&')}*`)
    const found: Record<string, unknown> = {}
    for (const name of names.sort()) {
      found[name.slice(prefix.length)] = (await this.server.dumpBuffer(name)).toString('latin1')
    }
    return found
  }
}

/** A loaded record with its version; undefined if it is absent or was not loaded. */
export function storedIn(set: WorkingSet, type: RecordType, id: string): StoredRecord | undefined {
  const found = set.plans(type, id) ? set.find(type, id) : undefined
  if (found?.version === undefined) return undefined
  const { record, version, length = 0 } = found
  return { record: record === UNREADABLE ? undefined : record, version, length }
}
