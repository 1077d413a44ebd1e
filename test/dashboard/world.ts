/** A fabric on a SQLite file with a worker, and work in every state that the dashboard shows. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PermanentError, allOf, approval, flow, signal, task } from '../../src/contract.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { createHandler } from '../../src/server/handler.ts'
import type { HandlerOptions } from '../../src/server/handler.ts'
import { serve } from '../../src/server/node/http-server.ts'
import type { HttpServer } from '../../src/server/node/http-server.ts'
import { until } from '../servers/until.ts'

const LIMIT_MS = 20_000

/** A text that tries to be markup, to reverse what follows, and to hide. */
export const HOSTILE =
  '<img src=x onerror="window.planted=1"><script>window.planted=1</script>\u202Egnp.exe\u200B\u0007'

const charge = task<{ cents: number }, { receipt: string }>('card.charge')
const refuse = task<unknown, never>('mail.send', { retry: { attempts: 2, backoff: { kind: 'fixed', delay: 0 } } })
const hostile = task('notes.import')
const order = task<{ item: string }, string>('order.place')
const settle = task('payment.await')
const encode = task<{ minutes: number }, string>('video.encode')
const nowhere = task('gpu.train', { lane: 'gpu', needs: ['cuda'] })
const part = task<{ n: number }, number>('part')
const sum = task<undefined, number, Readonly<Record<string, number>>>('sum')

export const tasks = { charge, refuse, hostile, order, settle, encode, nowhere }

export const addition = flow('addition', (f, { parts, broken }: { parts: number; broken?: number }) => {
  const nodes = Array.from({ length: parts }, (_, i) =>
    f.node(`part-${i}`, part, { input: { n: i === broken ? -1 : i } }),
  )
  const total = f.node('sum', sum, { after: allOf(...nodes) })
  f.node('report', charge, { after: allOf(total), input: { cents: 1 } })
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
    await ctx.step('reserve', () => ({ item }))
    const review = await ctx.waitFor('review', approval())
    if (!review.ok) throw new PermanentError(`review ${review.reason}`)
    return `${item} is on its way`
  }),
  settle.handle((_input, ctx) => ctx.waitFor(signal('paid'))),
  encode.handle(async ({ minutes }, ctx) => {
    await ctx.progress(40, `minute 1 of ${minutes}`)
    return await new Promise<string>((_, reject) =>
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error)),
    )
  }),
  part.handle(({ n }) => {
    if (n < 0) throw new PermanentError('a part is negative')
    return n
  }),
  sum.handle((_input, { inputs }) => Object.values(inputs).reduce((total, each) => total + each, 0)),
]

export class World {
  readonly fabric: Fabric
  readonly #folder: string
  readonly #options: HandlerOptions
  #server: HttpServer

  private constructor(fabric: Fabric, folder: string, options: HandlerOptions, server: HttpServer) {
    this.fabric = fabric
    this.#folder = folder
    this.#options = options
    this.#server = server
  }

  static async start(options: HandlerOptions = {}): Promise<World> {
    const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-dashboard-'))
    const fabric = await createFabric(`sqlite:${folder}/fabric.db`, { log: 'silent' })
    await fabric.work(handlers, { concurrency: 8 })
    const complete = { engine: fabric.engine(), ...options }
    const server = await serve({ handler: createHandler(fabric, complete), runtime: fabric.runtime, port: 0 })
    return new World(fabric, folder, complete, server)
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
    await rm(this.#folder, { recursive: true })
  }
}
