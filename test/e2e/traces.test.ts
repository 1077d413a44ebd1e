/** The spans that processes export about one piece of work, with the SDK of OpenTelemetry in each process. */
import { readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../servers/until.ts'
import { root, workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

/** Appends each span to a file of its process when the span ends, as an exporter sends it to a collector. */
const PROGRAM = `
import { appendFileSync } from 'node:fs'
import * as openTelemetry from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createFabric, signal, task } from 'flowfabric'

const [, , process_, ...tasks] = process.argv
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext()
      const { name, attributes } = span
      const parentId = span.parentSpanContext?.spanId
      const line = { process: process_, name, traceId, spanId, parentId, attributes }
      appendFileSync(process_ + '.spans', JSON.stringify(line) + '\\n')
    }
    done({ code: 0 })
  },
  shutdown: async () => undefined,
}
openTelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
openTelemetry.trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
)

const charge = task('charge')
const order = task('order')
const handlers = {
  charge: charge.handle(() => 'charged'),
  order: order.handle(async ({ card }, ctx) => {
    await ctx.step('reserve', () => 'reserved')
    await ctx.waitFor(signal('confirm'))
    return await ctx.call('pay', charge, { card })
  }),
}
const fabric = await createFabric('sqlite:./flowfabric.db', { openTelemetry, log: 'silent' })
if (tasks.length > 0) {
  await fabric.work(tasks.map((name) => handlers[name]))
  process.once('SIGTERM', () => void fabric.close())
  console.log('works')
} else {
  const tracer = openTelemetry.trace.getTracer('shop')
  await tracer.startActiveSpan('checkout', async (span) => {
    await fabric.submit(order, { card: 'canary-4711' }, { id: 'order:1' })
    span.end()
  })
  await fabric.close()
}
`

interface ExportedSpan {
  readonly process: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId?: string
  readonly attributes: Readonly<Record<string, unknown>>
}

const LIMIT_MS = 60_000

async function spansOf(place: Workplace, ...processes: string[]): Promise<ExportedSpan[]> {
  const texts = await Promise.all(
    processes.map((name) => readFile(place.path(`${name}.spans`), 'utf8').catch(() => '')),
  )
  const lines = texts.join('').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as ExportedSpan)
}

/** Each span as its name and its process, behind those above it. */
function paths(spans: readonly ExportedSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const pathOf = ({ name, process, parentId }: ExportedSpan): string => {
    const parent = byId.get(parentId ?? '')
    const own = `${name} in ${process}`
    return parent === undefined ? own : `${pathOf(parent)} > ${own}`
  }
  return spans.map(pathOf).sort()
}

test(
  'spans of the processes that submit, run, resume and run a child are one trace',
  { timeout: 2 * LIMIT_MS },
  async () => {
    const place = await workplace()
    await place.install()
    await symlink(path.join(root, 'node_modules/@opentelemetry'), place.path('node_modules/@opentelemetry'), 'dir')
    await place.write('shop.js', PROGRAM)
    const worker = async (process: string, task: string) => {
      const running = place.startNode(['shop.js', process, task])
      await running.prints(/works/)
      return running
    }
    const stateIs = async (state: string) =>
      await until(`the order is ${state}`, LIMIT_MS, async () => {
        const shown = await place.json<{ readonly state: string }>('show', 'order:1')
        return shown.state === state || undefined
      })

    expect(await place.startNode(['shop.js', 'web']).end()).toMatchObject({ code: 0, stderr: '' })
    const first = await worker('first', 'order')
    await stateIs('suspended')
    expect(await first.endBy('SIGTERM')).toMatchObject({ code: 0, stderr: '' })
    // The run that waits has ended its span, which another process continues.
    const runs = (await spansOf(place, 'first')).filter(({ name }) => name === 'process order')
    expect(runs.map(({ attributes }) => attributes['flowfabric.outcome'])).toEqual(['parked'])

    await place.json('signal', 'order:1', 'confirm')
    const others = await Promise.all([worker('second', 'order'), worker('bank', 'charge')])
    await stateIs('completed')
    for (const other of others) expect(await other.endBy('SIGTERM')).toMatchObject({ code: 0, stderr: '' })

    const spans = await spansOf(place, 'web', 'first', 'second', 'bank')
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
    const order = 'checkout in web > send order in web'
    expect(paths(spans)).toEqual([
      'checkout in web',
      order,
      `${order} > process order in first`,
      `${order} > process order in first > step reserve in first`,
      `${order} > process order in second`,
      `${order} > process order in second`,
      `${order} > process order in second > process charge in bank`,
    ])
    expect(JSON.stringify(spans)).not.toContain('canary')
  },
)
