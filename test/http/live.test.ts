/** Streams and long polls: resumption after a cut, backpressure, heartbeats, and the end of the server. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLog, virtualRuntime } from '../../src/runtime/index.ts'
import { STREAM_LIMITS, Streams } from '../../src/server/live/streams.ts'
import type { StreamMessage } from '../../src/server/live/streams.ts'
import { until } from '../servers/until.ts'
import { messages, served } from './served.ts'
import type { Message, Served } from './served.ts'
import { work } from './story.ts'

const LIMIT_MS = 60_000

/** Connects to a stream. The connection ends with the test. */
async function follow(url: string, headers: Record<string, string> = {}) {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await fetch(url, { headers, signal: abort.signal })
  return { response, cut: () => abort.abort(), messages: () => messages(response) }
}

/** Takes messages until one fits. */
async function take(
  source: AsyncGenerator<Message, void, undefined>,
  fits: (message: Message) => boolean,
): Promise<Message[]> {
  const taken: Message[] = []
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    taken.push(next.value)
    if (fits(next.value)) return taken
  }
  throw new Error(`the stream ended after ${JSON.stringify(taken)}`)
}

async function submit(found: Served, id: string, task = 'greet'): Promise<void> {
  await found.ok('submitExecution', { body: { task, id } })
}

describe('the event log', () => {
  test('continues after a cut connection without a gap and without a repetition', async () => {
    const found = await served()
    const url = found.urlOf('followEvents', { query: { types: 'execution_created' } })
    const first = await follow(url)
    const source = first.messages()
    await submit(found, 'a')
    await submit(found, 'b')
    const seen = await take(source, ({ event }) => event === 'execution_created')
    first.cut()
    await submit(found, 'c')

    const again = await follow(url, { 'last-event-id': seen.at(-1)?.id ?? '' })
    const rest = again.messages()
    await take(rest, ({ event }) => event === 'execution_created')
    const [last] = (await take(rest, ({ event }) => event === 'execution_created')).slice(-1)
    const c = await found.ok('describeExecution', { params: { id: 'c' } })
    expect(last?.data['executionId']).toBe(c['id'])
  })

  test('has a cursor before its first event, so a cut before it loses none', async () => {
    const found = await served()
    const first = await follow(found.urlOf('followEvents'))
    const start = (await take(first.messages(), ({ id }) => id !== undefined)).at(-1)
    first.cut()
    await submit(found, 'a')
    const again = await follow(found.urlOf('followEvents'), { 'last-event-id': start?.id ?? '' })
    await take(again.messages(), ({ event }) => event === 'execution_created')
  })

  test('answers a cursor of a log that was replaced with that, and refuses what is no cursor', async () => {
    const found = await served()
    const headers = { 'last-event-id': 'e1.zzzz' }
    const { response, messages: read } = await follow(found.urlOf('followEvents'), headers)
    expect(response.status).toBe(200)
    const [replaced] = (await take(read(), ({ event }) => event === 'log_replaced')).slice(-1)
    expect(replaced?.data).toEqual({ partition: 0 })
    expect(await found.refusal('followEvents', { headers: { 'last-event-id': 'x' } })).toEqual([400, 'invalid_cursor'])
  })
})

test('the stream of an execution ends with it, and a client that connects again gets no content', async () => {
  const found = await served()
  await work(found.fabric)
  await submit(found, 'a')
  const { messages: read } = await follow(
    found.urlOf('followExecution', { params: { id: 'a' }, query: { fromStart: true } }),
  )
  const all: Message[] = []
  for await (const message of read()) all.push(message)
  expect(all.map(({ event }) => event).slice(-2)).toEqual(['execution_ended', 'end'])
  const headers = { 'last-event-id': all.findLast(({ id }) => id !== undefined)?.id ?? '' }
  const again = await follow(found.urlOf('followExecution', { params: { id: 'a' } }), headers)
  expect(again.response.status).toBe(204)
})

describe('a long poll', () => {
  test('answers when the execution ends', async () => {
    const found = await served()
    await submit(found, 'a', 'endless')
    const waiting = found.ok('getResult', { params: { id: 'a' }, query: { wait: '20s' } })
    await found.ok('cancelExecution', { params: { id: 'a' }, body: { reason: 'enough' } })
    expect(await waiting).toMatchObject({ outcome: 'cancelled', reason: 'enough' })
  })

  test('answers that it has not ended when its time is over', async () => {
    const found = await served()
    await submit(found, 'a')
    const { status, body } = await found.call('getResult', { params: { id: 'a' }, query: { wait: '20ms' } })
    expect([status, body['state']]).toEqual([202, 'waiting'])
  })

  test('and a stream end when the server stops, with an error that asks to try again', async () => {
    const found = await served()
    await submit(found, 'a')
    const waiting = found.call('getResult', { params: { id: 'a' }, query: { wait: '60s' } })
    const stream = await follow(found.urlOf('followEvents'))
    const source = stream.messages()
    await take(source, ({ id }) => id !== undefined)
    await found.server.close()
    const { status, body } = await waiting
    expect([status, body['code']]).toEqual([503, 'server_stopping'])
    expect((await source.next()).done).toBe(true)
  })
})

test('what a stopping server has acknowledged is stored', async () => {
  const found = await served()
  const acknowledged: string[] = []
  let isStopped = false
  const load = Array.from({ length: 8 }, async (_, lane) => {
    for (let i = 0; !isStopped; i++) {
      const id = `${lane}:${i}`
      try {
        const { status } = await found.call('submitExecution', { body: { task: 'greet', id } })
        if (status === 201) acknowledged.push(id)
      } catch {
        // The connection was refused or closed: nothing was acknowledged.
        return
      }
    }
  })
  await until('submits are acknowledged', LIMIT_MS, () => Promise.resolve(acknowledged.length > 50 ? true : undefined))
  await found.server.close()
  isStopped = true
  await Promise.all(load)
  for (const id of acknowledged) expect(await found.fabric.execution(id).state()).toBe('waiting')
})

describe('a stream', () => {
  const limits = { ...STREAM_LIMITS, streams: 1, heartbeatMs: 1_000, stallMs: 5_000 }

  /** A stream over a source that a test controls. */
  function open(source: () => AsyncGenerator<StreamMessage, void, undefined>) {
    const runtime = virtualRuntime()
    const streams = new Streams(runtime, silentLog, limits)
    const abort = new AbortController()
    const response = streams.start(source, { signal: abort.signal, requestId: 'test' })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const text = async () => new TextDecoder().decode((await reader.read()).value)
    return { runtime, streams, abort, reader, text }
  }

  async function* silence(): AsyncGenerator<StreamMessage, void, undefined> {
    await new Promise<never>(() => undefined)
    yield { id: '', event: '', data: '' }
  }

  async function* flood(): AsyncGenerator<StreamMessage, void, undefined> {
    for (let i = 0; ; i++) yield await Promise.resolve({ id: String(i), event: 'line', data: 'x'.repeat(10_000) })
  }

  test('sends a heartbeat while nothing happens', async () => {
    const { runtime, text } = open(silence)
    expect(await text()).toBe('retry: 1000\n\n')
    await runtime.advance(1_000)
    expect(await text()).toBe(':\n\n')
  })

  test('reads no faster than its client, and is cut off if the client takes nothing', async () => {
    let produced = 0
    const counted = async function* () {
      for await (const message of flood()) {
        produced += 1
        yield message
      }
    }
    const { runtime, streams, reader } = open(counted)
    await runtime.advance(100)
    expect(produced).toBeLessThan(20)
    await runtime.advance(5_000)
    expect(streams.open).toBe(0)
    const drain = async () => {
      while (!(await reader.read()).done);
    }
    await expect(drain()).rejects.toMatchObject({ code: 'aborted' })
  })

  test('ends with its client, and leaves room for another', async () => {
    const { streams, reader, runtime } = open(silence)
    expect(() => streams.refuseIfFull()).toThrow(expect.objectContaining({ code: 'server_busy' }))
    await reader.cancel()
    await runtime.advance(0)
    expect(streams.open).toBe(0)
    streams.refuseIfFull()
  })
})
