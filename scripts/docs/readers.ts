/** What the pages of the documentation leave to their readers, so that their snippets can run: services, tasks of their own, inputs. */
import { expect } from 'vitest'
import { z } from 'zod'
import { PermanentError, approval, flow, signal, task } from '../../src/index.ts'
import type { Handler, TaskContext } from '../../src/index.ts'
import { testFabric } from '../../src/testing/index.ts'
import { EndOfSnippet, SERVED_ONLY } from './run-page.ts'
import type { OwnTask, ReaderOf, Site } from './run-page.ts'

/** Pages with single snippets that are compiled only, and why. They have the mark `no-run`, or are a component. */
export const unrunSnippets: Readonly<Record<string, string>> = {
  'docs/flows.md': 'a part of the function of a flow',
  'docs/react.md': 'a browser renders it',
  'docs/waitpoint-tokens.md': 'names a file of keys and a vault',
  'docs/webhooks.md': 'names a delivery that has failed',
  'docs/workers.md': 'runs until the process is stopped',
}

/** Pages whose snippets are compiled only, and why. */
export const unrunPages: Readonly<Record<string, string>> = {
  'docs/http.md': 'needs a server with users; the tests of HTTP run the same calls',
  'docs/monitoring.md': 'needs an OpenTelemetry SDK; the tests of traces set one up',
  'docs/payload-codec.md': 'names files outside of the working directory; an example runs the same program',
  'docs/postgres.md': 'needs PostgreSQL; an example runs the same transaction',
  'docs/quick-start.md': 'a test follows the page as a whole, with the package',
  'docs/remote.md': 'needs a server; the tests of HTTP run the same program',
  'docs/valkey.md': 'needs a Valkey server',
}

const bank = {
  charge: () => Promise.resolve({ receipt: 'r-1' }),
  pay: () => Promise.resolve({ receipt: 'r-1' }),
  book: () => Promise.resolve('booked'),
  chargesOf: () => ['one'],
}
const mail = { send: () => Promise.resolve(), askForReview: () => Promise.resolve(), nudge: () => Promise.resolve() }
const depot = { ship: () => Promise.resolve('parcel'), parcels: ['one'] }
const Paid = z.object({ cents: z.number() })
const any = () => Promise.resolve('done')

/** Tasks by name, each served by a handler that returns a text. */
async function served(site: Site, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const own = task<unknown, string>(name)
    site.scope[name] = own
    await site.serve(own.handle(() => `${name} is done`))
  }
}

/** Submits an execution that waits, under an id that a page uses. */
async function waiting(site: Site, id: string): Promise<void> {
  const own = task<undefined>(`waits as ${id}`)
  await site.serve(own.handle(async (_, ctx) => await ctx.waitFor(signal('never', { timeout: '300d' }))))
  const execution = await site.fabric.submit(own, undefined, { id })
  site.scope['execution'] = execution
  await site.fabric.until(execution, 'suspended')
}

/** Submits a task of the page and waits until it needs a person. */
async function asked(site: Site, name: string, input: unknown, id: string): Promise<void> {
  const execution = await site.fabric.submit(site.scope[name] as OwnTask, input, { id })
  site.scope['execution'] = execution
  await site.fabric.until(execution, 'suspended')
}

const end = () => {
  throw new EndOfSnippet()
}

/** Waits until the worker takes the execution away. */
async function hold({ signal: stop }: TaskContext): Promise<void> {
  await new Promise<never>((_, reject) => {
    stop.addEventListener('abort', () => reject(new Error('The handler stops.')))
  })
}

/** The handlers of the page about tests: a bank that is down once, and work that is held in its first run. */
function testedHandlers(): readonly Handler[] {
  let runCount = 0
  const charge = task<unknown, string>('charge')
  const order = task<unknown, string>('order')
  const publish = task<unknown, string>('publish')
  return [
    charge.handle(async (_, ctx) => {
      runCount += 1
      if (runCount === 1) await hold(ctx)
      return 'charged'
    }),
    task('slow').handle((_, ctx) => hold(ctx)),
    order.handle(async (_, ctx) => {
      await ctx.step('charge', () => 'charged')
      await ctx.step('ship', () => 'shipped')
      return 'ordered'
    }),
    publish.handle(async (_, ctx) => {
      const review = await ctx.waitFor('review', approval({ need: 2, of: ['ada', 'bob'], timeout: '3d' }))
      if (!review.ok) return `not published: ${review.reason}`
      const slot = await ctx.waitFor(signal<{ at: string }>('slot', { timeout: '1d' }))
      return slot.ok ? `published at ${slot.value.at}` : 'published without a slot'
    }),
  ]
}

export const readers: Readonly<Record<string, ReaderOf>> = {
  'README.md': {
    inputs: { chargeHandler: { order: 'A-17', cents: 1 }, releaseHandler: { version: '4.2' } },
    before: {
      2: (site) => served(site, 'build', 'check', 'deploy'),
      3: ({ scope }) => Object.assign(scope, { build: any, rollOut: any, announce: any }),
    },
  },
  'docs/budgets.md': {
    names: () => ({
      model: { complete: () => Promise.resolve({ text: 'a text', usage: { total: 10, dollars: 0.01 } }) },
      anthropic: {
        messages: { create: () => Promise.resolve({ text: 'a text', usage: { input_tokens: 1, output_tokens: 2 } }) },
      },
      messages: [],
      small: 'small',
      large: 'large',
    }),
    inputs: { summariseHandler: { tenant: 'acme', prompt: 'bees' } },
    before: { 6: ({ fabric }) => fabric.budgets.define('old-tenants', { hard: { cost: 1 } }) },
  },
  'docs/children.md': {
    names: () => ({
      order: task('order'),
      total: () => 12,
      card: '4111',
      cents: 12,
      models: ['small', 'large'],
      question: 'How do bees find the way?',
    }),
    inputs: { orderHandler: { items: [{ id: 1 }, { id: 2 }], card: '4111' } },
    before: { 1: (site) => served(site, 'charge', 'ship', 'ask') },
  },
  'docs/cli.md': {
    names: () => ({ bank }),
    inputs: { greetHandler: { name: 'Ada' }, chargeHandler: { cents: 5 } },
  },
  'docs/consumers.md': { names: () => ({ charge: any }) },
  'docs/durable-steps.md': {
    names: () => ({
      bank,
      depot,
      mail,
      trip: 'to the bees',
      hotel: { book: () => Promise.resolve({ booking: 'b-1' }), cancel: any },
      book: () => Promise.resolve({ booking: 'b-1' }),
      cancel: any,
      report: task('report'),
      launch: () => Promise.resolve({ close: any, render: any, compare: any }),
    }),
    inputs: { orderHandler: { item: 'honey', cents: 12 }, reportHandler: { url: 'https://bees.example' } },
    signals: { confirmed: true },
    before: {
      5: async (site) => {
        const order = site.scope['order'] as OwnTask
        const execution = await site.fabric.submit(order, { item: 'honey', cents: 12 }, { id: 'order:17' })
        await site.untilCompleted(execution.id)
        Object.assign(site.scope, { execution })
      },
    },
  },
  'docs/events.md': {
    names: () => ({ stop: new AbortController(), handle: end, resynchronize: any, saveCursor: any }),
    before: {
      1: async (site) => {
        await served(site, 'soon')
        await site.fabric.submit(site.scope['soon'] as OwnTask, {}, { delay: '1s' })
      },
    },
  },
  'docs/flows.md': {
    names: () => ({ loadTask: task('load'), indexTask: task('index'), file: 'bees.csv', linksOf: () => [] }),
    inputs: { deployHandler: SERVED_ONLY, reportHandler: SERVED_ONLY, crawlHandler: SERVED_ONLY },
    before: {
      2: async (site) => {
        const { build, test: check } = site.scope as { readonly build: OwnTask; readonly test: OwnTask }
        await site.serve(
          build.handle(() => ({ image: 'shop:1' })),
          check.handle(() => ({ passed: 3 })),
        )
      },
      4: (site) => {
        const shrink = task<unknown, string>('shrink')
        Object.assign(site.scope, { shrink, handlers: [shrink.handle(() => 'shrunk')] })
      },
      7: async (site) => {
        await site.fabric.createFlow('release', { id: 'release:43', hold: true })
        site.scope['handle'] = site.fabric.flow('release:43')
      },
    },
  },
  'docs/guides/agents-with-budgets.md': {
    names: () => ({
      model: { answer: () => Promise.resolve({ text: 'by the sun', tokens: 10, toolCalls: [] }) },
      tools: { run: any },
    }),
    inputs: { agentHandler: { tenant: 'acme', goal: 'find the way' } },
  },
  'docs/guides/approvals.md': {
    names: () => ({ orders: { check: any }, mail, bank }),
    inputs: { refundHandler: { order: 'A-17', cents: 1_999 } },
    before: {
      2: async (site) => {
        await asked(site, 'refund', { order: 'A-17', cents: 1_999 }, 'refund:A-17')
        site.scope['token'] = await site.fabric.reissue('refund:A-17', 'gate', { for: 'ada' })
      },
    },
  },
  'docs/guides/from-bullmq.md': {
    names: () => ({ images: { load: any, store: any }, url: 'https://bees.example' }),
    inputs: { resizeHandler: { url: 'https://bees.example', width: 800 } },
  },
  'docs/guides/from-temporal.md': {
    names: () => ({ bank, warehouse: depot }),
    inputs: { orderHandler: { item: 'honey', cents: 12 } },
    signals: { paid: true },
  },
  'docs/guides/testing.md': { names: () => ({ expect, bank, depot }) },
  'docs/limits.md': {
    names: () => {
      const statuses = [429]
      const fetch = () => Promise.resolve({ status: statuses.pop() ?? 200 })
      return { fetch, url: 'https://bees.example', tenant: 'acme' }
    },
    before: { 3: ({ fabric }) => fabric.limits.define('openai', { concurrency: 50 }) },
  },
  'docs/schedules.md': {
    names: () => {
      const report = task<unknown, string>('report')
      const release = flow('release', (f) => f.node('build', report, { input: {} }))
      return { report, release, reportHandler: report.handle(() => 'reported') }
    },
    before: { 2: (site) => served(site, 'report') },
  },
  'docs/shaping.md': {
    names: () => ({
      mail: task('mail'),
      sendAll: (items: readonly unknown[]) => Promise.resolve(items.map((_, id) => ({ ok: true, id }))),
    }),
    inputs: { mailHandler: 'a letter' },
    before: { 1: (site) => served(site, 'index', 'refresh', 'sync', 'book') },
  },
  'docs/signals-and-approvals.md': {
    names: () => ({ Paid, mail: { ...mail, nudge: end }, courier: signal('courier'), stop: new AbortController() }),
    inputs: { publishHandler: { draft: 'bees' } },
    signals: { slot: { at: 'noon' }, paid: { cents: 12 }, packed: true },
    before: {
      2: (site) => asked(site, 'publish', { draft: 'bees' }, 'draft:7'),
      3: async (site) => {
        const own = task<undefined>('called back')
        await site.serve(own.handle(async (_, ctx) => await ctx.waitFor('callback', await ctx.waitpoint('callback'))))
        site.scope['called back'] = own
        await asked(site, 'called back', undefined, 'callback')
      },
      7: async (site) => {
        await asked(site, 'publish', { draft: 'bees' }, 'draft:8')
        site.scope['token'] = await site.fabric.reissue('draft:8', 'review', { for: 'ada' })
      },
      9: async (site) => {
        const own = task<undefined>('reminded')
        await site.serve(own.handle((_, ctx) => ctx.waitFor('review', approval({ of: ['zoe'], remind: '1s' }))))
        site.scope['reminded'] = own
        await asked(site, 'reminded', undefined, 'reminded')
      },
      10: (site) => waiting(site, 'deploy:4.2'),
    },
  },
  'docs/streams.md': {
    names: () => ({
      model: {
        async *stream() {
          yield* await Promise.resolve(['by ', 'the ', 'sun'])
        },
      },
      process: { stdout: { write: () => true } },
      show: end,
      reply: any,
      order: { id: 'A-17' },
      console: { log: end },
    }),
    inputs: { answerHandler: { question: 'How do bees find the way?' } },
    signals: { say: 'stop' },
  },
  'docs/tasks.md': {
    names: () => {
      const train = task('train')
      return {
        bank,
        CardDeclined: PermanentError,
        isTransient: () => true,
        resizeV1: task('image.resize', { version: 1 }),
        resizeToWidth: any,
        resizeToBox: any,
        dataset: 'bees',
        trainHandler: train.handle(() => 'trained'),
        response: { status: 200 },
        url: 'https://bees.example',
      }
    },
    inputs: { charged: { cents: 12 } },
    before: {
      3: (site) => served(site, 'charge', 'sync'),
      10: async (site) => {
        const resize = site.scope['resize'] as OwnTask
        await site.serve(resize.handle(() => ({ url: 'https://bees.example/800' })))
      },
    },
  },
  'docs/testing.md': {
    names: () => {
      let failureCount = 0
      const charge = task<unknown, string>('charge', { retry: { attempts: 5 } })
      const chargeHandler = charge.handle(() => {
        failureCount += 1
        if (failureCount === 1) throw new Error('The bank is down.')
        return 'charged'
      })
      const [order, slow, publish] = [task('order'), task('slow'), task('publish')]
      return { charge, chargeHandler, slow, publish, order, expect, bank }
    },
    before: {
      2: async ({ scope }) => {
        scope['t'] = await testFabric(testedHandlers())
      },
    },
  },
  'docs/webhooks.md': {},
  'docs/workers.md': {
    names: () => {
      const charge = task('charge')
      const span = { end: () => undefined }
      return { charge, refundHandler: task('refund').handle(any), bank, tracer: { startSpan: () => span } }
    },
    inputs: { chargeHandler: { order: 'A-17', cents: 12 } },
    before: {
      3: async (site) => {
        const { items } = await site.fabric.workers()
        site.scope['instanceId'] = items[0]?.instanceId
      },
    },
  },
}
