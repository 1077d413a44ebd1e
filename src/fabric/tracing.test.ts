import * as openTelemetry from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { flow, signal, task } from '../client/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import { createHandler } from '../server/handler.ts'
import { createFabric } from './fabric.ts'

const exporter = new InMemorySpanExporter()

beforeAll(() => {
  openTelemetry.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  openTelemetry.trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
})

afterEach(() => exporter.reset())

afterAll(() => {
  openTelemetry.trace.disable()
  openTelemetry.context.disable()
})

const charge = task<{ cents: number }, string>('charge')
const release = task<undefined, string>('release')

/** Each span as its name behind the names of those above it. */
function paths(): string[] {
  const spans = exporter.getFinishedSpans()
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]))
  const pathOf = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? '')
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`
  }
  return spans.map(pathOf).sort()
}

test('a submit, the runs of its handler, its steps and its children are one trace, across waits', async () => {
  const runtime = virtualRuntime()
  await using fabric = await createFabric('memory:', { runtime, openTelemetry, log: 'silent' })
  const handlers = [
    charge.handle(() => 'charged'),
    release.handle(async (_, ctx) => {
      await ctx.step('build', () => 'image')
      await ctx.waitFor(signal('go'))
      return await ctx.call('pay', charge, { cents: 1 })
    }),
  ]
  await fabric.work(handlers)
  const execution = await fabric.submit(release)
  await runtime.advance(100)
  await execution.signal('go')
  await runtime.advance(100)

  expect(await execution.result()).toBe('charged')
  expect(paths()).toEqual([
    'send release',
    'send release > process release',
    'send release > process release',
    'send release > process release',
    'send release > process release > process charge',
    'send release > process release > step build',
  ])
  const outcomes = exporter.getFinishedSpans().map(({ attributes }) => attributes['flowfabric.outcome'])
  expect(outcomes.filter((outcome) => outcome === 'parked')).toHaveLength(2)
})

test('a run that fails is a failed span, and spans contain no input and no error text', async () => {
  const runtime = virtualRuntime()
  await using fabric = await createFabric('memory:', { runtime, openTelemetry, log: 'silent' })
  await fabric.work([
    charge.handle(({ cents }) => {
      throw new Error(`canary ${cents}`)
    }),
  ])
  const graph = flow('shop', (f) => ({ paid: f.node('pay', charge, { input: { cents: 4711 } }) }))
  const handle = await fabric.submit(graph, undefined, { id: 'shop:1' })
  const again = await fabric.submit(graph, undefined, { id: 'shop:1' })
  await runtime.advance(100)

  expect(again.created).toBe('joined')
  expect((await handle.describe()).state).toBe('failed')
  expect(paths()).toEqual(['send shop', 'send shop', 'send shop > process charge'])
  const [run] = exporter.getFinishedSpans().filter(({ name }) => name === 'process charge')
  expect(run?.status.code).toBe(openTelemetry.SpanStatusCode.ERROR)
  expect(run?.attributes).toMatchObject({
    'error.type': 'error',
    'flowfabric.attempt': 1,
    'flowfabric.lane': 'default',
  })
  const exported = exporter.getFinishedSpans().map(({ name, attributes, events, status }) => {
    return [name, attributes, events, status]
  })
  expect(JSON.stringify(exported)).not.toMatch(/canary|4711/)
})

test('a request continues the trace of its caller, and one with a damaged header does not', async () => {
  const runtime = virtualRuntime()
  await using fabric = await createFabric('memory:', { runtime, openTelemetry, log: 'silent' })
  await using handler = createHandler(fabric)
  const send = async (traceparent: string) => {
    const headers = { 'content-type': 'application/json', traceparent }
    const body = JSON.stringify({ task: 'charge' })
    await handler(new Request('http://fabric.test/v1/executions', { method: 'POST', headers, body }))
  }
  const traceId = 'a'.repeat(32)
  await send(`00-${traceId}-${'b'.repeat(16)}-01`)
  await send('00-canary')

  const traceIds = exporter.getFinishedSpans().map((span) => span.spanContext().traceId)
  expect(traceIds.slice(0, 2)).toEqual([traceId, traceId])
  expect(traceIds).toHaveLength(4)
  expect(traceIds.slice(2)).not.toContain(traceId)
})

test('what is not the module is refused', async () => {
  const wrong = { openTelemetry: {} as unknown as typeof openTelemetry }
  await expect(createFabric('memory:', wrong)).rejects.toThrow("import * as openTelemetry from '@opentelemetry/api'")
})
