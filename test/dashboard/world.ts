/** A fabric on a SQLite file with a worker, and work in every state that the dashboard shows. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { changeKeyFile } from '../../src/client/tokens/key-file.ts'
import { KeyRing } from '../../src/client/tokens/key-ring.ts'
import { PermanentError, allOf, approval, budget, flow, signal, task } from '../../src/contract.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { systemRuntime } from '../../src/runtime/index.ts'
import { createHandler } from '../../src/server/handler.ts'
import type { HandlerOptions } from '../../src/server/handler.ts'
import { serve } from '../../src/server/node/http-server.ts'
import type { HttpServer } from '../../src/server/node/http-server.ts'
import { until } from '../servers/until.ts'

const LIMIT_MS = 60_000

/** A text that tries to be markup, to reverse what follows, and to hide. */
export const HOSTILE =
  '<img src=x onerror="window.planted=1"><script>window.planted=1</script>\u202Egnp.exe\u200B\u0007'

const charge = task<{ cents: number }, { receipt: string }>('card.charge')
const refuse = task<unknown, never>('mail.send', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } } })
const hostile = task('notes.import')
const order = task<{ item: string }, string>('order.place')
const settle = task('payment.await', {
  signals: {
    paid: z.object({
      cents: z.int().min(1).meta({ title: 'Amount in cents' }),
      method: z.enum(['card', 'cash']).optional(),
      note: z.string().max(80).optional(),
      isFinal: z.boolean().optional(),
    }),
  },
})
const encode = task<{ minutes: number }, string>('video.encode')
const company = budget('company', { hard: { tokens: 10_000 }, every: 'month' })
const tenants = budget<{ tenant: string }>('tenants', {
  parent: company,
  key: ({ tenant }) => tenant,
  hard: { tokens: 1_000 },
  every: 'day',
})
const summarise = task<{ tenant: string; tokens: number }>('text.summarise', { budgets: [tenants] })
const nowhere = task('gpu.train', { lane: 'gpu', needs: ['cuda'] })
const part = task<{ n: number }, number>('part')
const sum = task<undefined, number, Readonly<Record<string, number>>>('sum')

export const tasks = { charge, refuse, hostile, order, settle, encode, summarise, nowhere }

export const addition = flow('addition', (f, { parts, broken }: { parts: number; broken?: number }) => {
  const nodes = Array.from({ length: parts }, (_, i) =>
    f.node(`part-${i}`, part, { input: { n: i === broken ? -1 : i } }),
  )
  const total = f.node('sum', sum, { after: allOf(...nodes) })
  f.node('report', charge, { after: allOf(total), input: { cents: 1 } })
})

/** Adds in two levels, because a member waits for a thousand others at most. */
export const wideAddition = flow('wide', (f, { groups, parts }: { groups: number; parts: number }) => {
  const sums = Array.from({ length: groups }, (_, group) => {
    const nodes = Array.from({ length: parts }, (_, i) => f.node(`part-${group}-${i}`, part, { input: { n: i } }))
    return f.node(`sum-${group}`, sum, { after: allOf(...nodes) })
  })
  f.node('total', sum, { after: allOf(...sums) })
})

const handlers = [
  charge.handle(async ({ cents }, ctx) => {
    await ctx.step('authorise', () => ({ cents, authorised: true }))
    await ctx.step('capture', () => ({ receipt: `${cents} cents` }))
    return { receipt: `${cents} cents` }
  }),
  refuse.handle(() => {
    throw new PermanentError('the address does not exist')
  }),
  hostile.handle((input) => {
    throw new PermanentError(`cannot import ${String(input)}`)
  }),
  order.handle(async ({ item }, ctx) => {
    ctx.log.info({ item }, 'reserving')
    if (item === 'wax') ctx.log.warn({ left: 1 }, `only <b>one</b> ${item} is left`)
    await ctx.step('reserve', () => ({ item }))
    const review = await ctx.waitFor('review', approval(item === 'mead' ? { of: ['ada'] } : {}))
    if (!review.ok) throw new PermanentError(`review ${review.reason}`)
    return `${item} is on its way`
  }),
  settle.handle((_input, ctx) => ctx.waitFor(signal('paid', { schema: settle.signals.paid }))),
  encode.handle(async ({ minutes }, ctx) => {
    await ctx.progress(40, `minute 1 of ${minutes}`)
    return await new Promise<string>((_, reject) =>
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error)),
    )
  }),
  summarise.handle(async ({ tokens }, ctx) => {
    const reserved = await ctx.reserve({ tokens: 2 * tokens }, { key: 'model' })
    await reserved.settle({ tokens })
  }),
  part.handle(({ n }) => {
    if (n < 0) throw new PermanentError('a part is negative')
    return n
  }),
  sum.handle((_input, { inputs }) => Object.values(inputs).reduce((total, each) => total + each, 0)),
]

/** What webhooks are sent to. It keeps the ids of the events. */
class Receiver {
  readonly eventIds: string[] = []
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      this.eventIds.push(String(request.headers['webhook-id']))
      request.resume()
      response.writeHead(204).end()
    })
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function writeKeys(file: string): Promise<{ readonly file: string }> {
  await changeKeyFile(file, systemRuntime(), () => KeyRing.begin(Date.now()))
  return { file }
}

export class World {
  readonly receiver: Receiver
  readonly fabric: Fabric
  readonly #folder: string
  readonly #options: HandlerOptions
  #server: HttpServer

  private constructor(fabric: Fabric, folder: string, options: HandlerOptions, server: HttpServer, receiver: Receiver) {
    this.receiver = receiver
    this.fabric = fabric
    this.#folder = folder
    this.#options = options
    this.#server = server
  }

  /** `keyFile`: the keys are in a file that the server may change. */
  static async start(options: HandlerOptions = {}, { keyFile = false } = {}): Promise<World> {
    const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-dashboard-'))
    const keys = keyFile ? await writeKeys(`${folder}/keys`) : KeyRing.begin(Date.now())
    const fabric = await createFabric(`sqlite:${folder}/fabric.db`, { log: 'silent', keys })
    await fabric.work(handlers, { concurrency: 8, engine: { webhooks: { allowPrivate: true } } })
    const contracts = handlers.map((handler) => handler.task)
    const complete = { engine: fabric.engine(), tasks: contracts, ...options }
    const server = await serve({ handler: createHandler(fabric, complete), runtime: fabric.runtime, port: 0 })
    return new World(fabric, folder, complete, server, await Receiver.start())
  }

  get url(): string {
    return `${this.#server.url}${this.#options.basePath ?? ''}`
  }

  /** Ends the server and its streams, and starts another at the same address. */
  async restartServer(): Promise<void> {
    const { port } = new URL(this.#server.url)
    await this.#server.close()
    const handler = createHandler(this.fabric, this.#options)
    this.#server = await serve({ handler, runtime: this.fabric.runtime, port: Number(port) })
  }

  async untilState(id: string, state: string): Promise<void> {
    await until(`${id} is ${state}`, LIMIT_MS, async () => {
      const found = await this.fabric.describe(id, {})
      return found.state === state ? found : undefined
    })
  }

  async close(): Promise<void> {
    await this.#server.close()
    await this.fabric.close({ drain: 0 })
    await this.receiver.close()
    await rm(this.#folder, { recursive: true })
  }
}
