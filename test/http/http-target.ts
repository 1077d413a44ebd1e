/**
 * A store in memory that is reached through the operation port of a server. What the port does not serve is done in the store itself.
 * The tests of a file share one server, and each has a store of its own behind it.
 */
import { Fabric } from '../../src/fabric/fabric.ts'
import { systemRuntime, virtualRuntime } from '../../src/runtime/index.ts'
import type { VirtualRuntime } from '../../src/runtime/index.ts'
import { createHandler } from '../../src/server/handler.ts'
import { serve } from '../../src/server/node/http-server.ts'
import { operationAccess } from '../../src/server/operations/access.ts'
import { inputShapes, namedShapes } from '../../src/server/operations/input-shapes.ts'
import type { Shape } from '../../src/server/operations/shape.ts'
import { parseRemote } from '../../src/stores/remote/remote-location.ts'
import { RemoteStore } from '../../src/stores/remote/remote-store.ts'
import type { Answer, Call, Store } from '../../src/stores/store.ts'
import { afterEachFile } from '../after-file.ts'
import { partitioned } from '../conformance/targets.ts'
import type { LentTarget, OpenedTarget, StoreTarget } from '../conformance/store-target.ts'

/** The page of events that a server returns at most. */
const EVENT_PAGE = 1_000

export function httpTarget(): StoreTarget {
  const served = new Map<string, ServedStore>()
  afterEachFile(async () => {
    for (const each of served.values()) await each.close()
    served.clear()
  })
  const lend = async (indexedTags: readonly string[]) => {
    const found = served.get(indexedTags.join()) ?? (await ServedStore.start(indexedTags))
    served.set(indexedTags.join(), found)
    return await found.lend()
  }
  return { name: 'memory, over HTTP', lend, open: () => Promise.reject(new Error('The store is lent.')) }
}

class ServedStore {
  readonly #runtime: VirtualRuntime = virtualRuntime()
  readonly #startAt = this.#runtime.now()
  readonly #indexedTags: readonly string[]
  #target: OpenedTarget
  #far: Store | undefined
  #close: () => Promise<void> = async () => undefined

  private constructor(indexedTags: readonly string[], target: OpenedTarget) {
    this.#indexedTags = indexedTags
    this.#target = target
  }

  static async start(indexedTags: readonly string[]): Promise<ServedStore> {
    const found = new ServedStore(indexedTags, await partitioned.open(virtualRuntime(), indexedTags))
    const fabric = new Fabric(found.#near(), found.#runtime, { allNamespaces: true })
    // Requests take time, and the clock of the tests stands still.
    const server = await serve({ handler: createHandler(fabric), runtime: systemRuntime(), port: 0 })
    const location = parseRemote('http', server.url.slice('http:'.length))
    const far = await RemoteStore.open({ runtime: systemRuntime(), location, token: undefined })
    found.#far = far
    found.#close = async () => {
      await far.close()
      await server.close()
    }
    return found
  }

  async lend(): Promise<LentTarget> {
    this.#runtime.jump(this.#startAt - this.#runtime.now())
    this.#target = await partitioned.open(this.#runtime, this.#indexedTags)
    const { store: near } = this.#target
    const target = { ...this.#target, store: mixed(near, this.#far ?? near) }
    return { runtime: this.#runtime, target, giveBack: async () => undefined }
  }

  close(): Promise<void> {
    return this.#close()
  }

  /** The store of the present test. */
  #near(): Store {
    const present = () => this.#target.store
    return {
      settings: present().settings,
      level: present().level,
      run: (partition, calls) => present().run(partition, calls),
      readEvents: (partition, after, limit, hint) => present().readEvents(partition, after, limit, hint),
      trimEvents: (partition, olderThan, keepCount) => present().trimEvents(partition, olderThan, keepCount),
      recordFacts: (kind, names) => present().recordFacts(kind, names),
      findFacts: (kind, names) => present().findFacts(kind, names),
      onWake: (listener, interest) => present().onWake(listener, interest),
      report: () => present().report(),
      dump: (partition) => present().dump(partition),
      close: async () => undefined,
    }
  }
}

/** Sends what the port serves over HTTP. */
function mixed(near: Store, far: Store): Store {
  return {
    settings: far.settings,
    level: far.level,
    run: async (partition, calls) => {
      const answers: Answer[] = []
      for (const group of groupsOf(calls)) {
        if (isServed(group[0])) answers.push(...(await far.run(partition, group.map(typed))).map(withUndefined))
        else answers.push(...(await near.run(partition, group)))
      }
      return answers
    },
    readEvents: (partition, after, limit, hint) => far.readEvents(partition, after, Math.min(limit, EVENT_PAGE), hint),
    trimEvents: (partition, olderThan, keepCount) => near.trimEvents(partition, olderThan, keepCount),
    recordFacts: (kind, names) => far.recordFacts(kind, names),
    findFacts: (kind, names) => far.findFacts(kind, names),
    onWake: (listener, interest) => near.onWake(listener, interest),
    report: () => far.report(),
    dump: (partition) => near.dump(partition),
    close: async () => undefined,
  }
}

/** Tests pass whatever they hold. Fields that are no part of an input are left out, as a type requires it of a program. */
function typed(call: Call): Call {
  const { within } = call.input as { readonly within?: string }
  const input = known(call.input, inputShapes[call.operation]) as object
  return { ...call, input: within === undefined ? input : { ...input, within } }
}

function known(value: unknown, shape: Shape): unknown {
  if (typeof shape !== 'object' || typeof value !== 'object' || value === null) return value
  if ('ref' in shape) {
    const named = namedShapes[shape.ref]
    return named === undefined ? value : known(value, named)
  }
  if ('list' in shape) return Array.isArray(value) ? value.map((each) => known(each, shape.list)) : value
  if (!('fields' in shape)) return value
  const { fields } = shape
  const entries = Object.entries(value).flatMap(([name, each]: [string, unknown]) => {
    const own = fields[name] ?? fields[`${name}?`]
    return own === undefined ? [] : [[name, known(each, own)] as const]
  })
  return Object.fromEntries(entries)
}

/** An absent field counts as one that is undefined. JSON has no such fields, and tests ask for some. */
function withUndefined<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof Error) return value
  if (Array.isArray(value)) return value.map(withUndefined) as T
  const fields = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withUndefined<unknown>(each)]))
  const getOwnPropertyDescriptor = (target: object, name: string | symbol) =>
    Reflect.getOwnPropertyDescriptor(target, name) ??
    (typeof name === 'string' ? { configurable: true, enumerable: true, value: undefined } : undefined)
  return new Proxy(fields, { getOwnPropertyDescriptor }) as T
}

function isServed(call: Call | undefined): boolean {
  return call !== undefined && operationAccess[call.operation] !== undefined
}

/** Neighbours that go the same way. */
function groupsOf(calls: readonly Call[]): Call[][] {
  const groups: Call[][] = []
  for (const call of calls) {
    const last = groups.at(-1)
    if (last !== undefined && isServed(last[0]) === isServed(call)) last.push(call)
    else groups.push([call])
  }
  return groups
}
