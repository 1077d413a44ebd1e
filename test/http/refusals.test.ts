/** Requests that must be refused: what is wrong, with which status, and that nothing was written. */
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createFabric } from '../../src/fabric/fabric.ts'
import { virtualRuntime } from '../../src/runtime/index.ts'
import { createHandler } from '../../src/server/handler.ts'
import { read, served } from './served.ts'
import type { Served } from './served.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

async function post(
  found: Served,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
) {
  const {
    status,
    body: answer,
    headers: received,
  } = await read(await fetch(found.url + path, { method: 'POST', headers, body }))
  return { status, code: answer['code'], detail: answer['detail'], field: answer['field'], received }
}

async function expectNothingSubmitted(found: Served): Promise<void> {
  expect((await found.fabric.list()).items).toEqual([])
}

describe('a body', () => {
  test.each([
    ['that is not JSON', '{"task":', 400, 'invalid_input'],
    ['that is a list', '[]', 400, 'invalid_input'],
    ['that is missing', '', 400, 'invalid_input'],
    ['with a wrong type', '{"task":1}', 400, 'invalid_input'],
    ['with an unknown field', '{"task":"greet","taks":1}', 400, 'invalid_input'],
    ['with two values', '{"task":"greet","input":1,"inputBytes":"AQ=="}', 400, 'invalid_input'],
    ['with a prototype', '{"task":"greet","input":{"__proto__":{"isAdmin":true}}}', 400, 'invalid_input'],
    ['with an escaped prototype', '{"task":"greet","input":{"\\u005f_proto__":1}}', 400, 'invalid_input'],
    ['with a prototype of its own', '{"task":"greet","__proto__":{"lane":"x"}}', 400, 'invalid_input'],
    ['with a field of all objects', '{"task":"greet","constructor":{}}', 400, 'invalid_input'],
    ['that is nested too deep', `{"task":"greet","input":${'['.repeat(300)}${']'.repeat(300)}}`, 400, 'invalid_input'],
    ['with a lane that is not printable', '{"task":"greet","lane":"a\\u0000b"}', 400, 'invalid_input'],
    ['with a dedupe but no id', '{"task":"greet","dedupe":"1d"}', 400, 'invalid_input'],
    ['with two delays', '{"task":"greet","delay":1,"delayUntil":1}', 400, 'invalid_input'],
    [
      'with a payload that is too large',
      `{"task":"greet","input":"${'a'.repeat(1_048_576)}"}`,
      413,
      'payload_too_large',
    ],
    ['that is too large', `{"task":"greet","input":"${'a'.repeat(1_600_000)}"}`, 413, 'payload_too_large'],
  ])('%s is refused', async (_what, body, status, code) => {
    const found = await served()

    expect(await post(found, '/v1/executions', body)).toMatchObject({ status, code })
    await expectNothingSubmitted(found)
  })

  test('that is not UTF-8 is refused', async () => {
    const found = await served()
    const bytes = new Uint8Array([...Buffer.from('{"task":"'), 0xff, ...Buffer.from('"}')])
    expect(await post(found, '/v1/executions', bytes)).toMatchObject({ status: 400, detail: 'The body is not UTF-8.' })
  })

  test.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['application/json; charset=latin1'],
    ['application/jsonp'],
    [''],
  ])('of type "%s" is refused', async (type) => {
    const found = await served()
    const answer = await post(found, '/v1/executions', '{"task":"greet"}', { 'content-type': type })
    expect(answer).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    await expectNothingSubmitted(found)
  })

  test('that is compressed is refused', async () => {
    const found = await served()
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }
    expect(await post(found, '/v1/executions', 'x', headers)).toMatchObject({ status: 415 })
  })

  test('of unknown length is cut off at the limit', async () => {
    const found = await served()
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(32))
      },
    })
    const sending = fetch(`${found.url}/v1/executions`, {
      method: 'POST',
      headers: JSON_TYPE,
      body,
      duplex: 'half',
    })
    // The connection is closed while the body is still being sent, so the answer may be lost.
    const status = await sending.then(
      (response) => response.status,
      () => 413,
    )
    expect(status).toBe(413)
    expect(sent).toBeLessThan(100_000_000)
  })

  test('that does not arrive in time is refused', async () => {
    const runtime = virtualRuntime()
    const fabric = await createFabric('memory:', { log: 'silent', runtime })
    await using handler = createHandler(fabric)
    onTestFinished(() => fabric.close())
    const isCancelled = Promise.withResolvers<true>()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"task"')),
      cancel: () => isCancelled.resolve(true),
    })
    const slow = { method: 'POST', headers: JSON_TYPE, body, duplex: 'half' } as const
    const answer = handler(new Request('http://localhost/v1/executions', slow))
    await runtime.advance(30_000)
    const { status, body: problem } = await read(await answer)
    expect([status, problem['code']]).toEqual([408, 'request_timeout'])
    expect(await isCancelled.promise).toBe(true)
    expect((await fabric.list()).items).toEqual([])
  })

  test('names the field at fault, also in a list', async () => {
    const found = await served()
    const answer = await post(found, '/v1/executions', '{"task":"greet","retry":{"attempts":0}}')
    expect(answer).toMatchObject({ status: 400, field: 'retry.attempts' })
  })
})

describe('a path or a query', () => {
  test.each([
    ['an unknown route', '/v1/frobnicate', 404, 'route_not_found'],
    ['another version', '/v2/executions', 404, 'route_not_found'],
    ['an empty id', '/v1/executions//why', 404, 'route_not_found'],
    ['a parent folder', '/v1/executions/..%2f..%2fetc%2fpasswd', 404, 'execution_not_found'],
    ['a broken escape', '/v1/executions/%E0%A4%A', 400, 'invalid_input'],
    ['a control character', '/v1/executions/a%00b', 400, 'invalid_input'],
    ['the id of another kind', '/v1/executions/f0-0198f7a0-0000-7000-8000-000000000000', 400, 'invalid_input'],
    ['a partition that does not exist', '/v1/executions/99-0198f7a0-0000-7000-8000-000000000000', 400, 'invalid_input'],
    ['an unknown execution', '/v1/executions/nobody', 404, 'execution_not_found'],
    ['an unknown flow', '/v1/flows/nobody', 404, 'flow_not_found'],
    ['an unknown parameter', '/v1/executions?limt=1', 400, 'invalid_input'],
    ['a parameter given twice', '/v1/executions?limit=1&limit=2', 400, 'invalid_input'],
    ['a parameter of another type', '/v1/executions?limit=many', 400, 'invalid_input'],
    ['a number out of range', '/v1/executions?limit=100000', 400, 'invalid_input'],
    ['an unknown word', '/v1/executions?state=done', 400, 'invalid_input'],
    ['an instant after all calendars', '/v1/schedule-times?cron=0+3+*+*+*&from=9000000000000000', 400, 'invalid_input'],
    ['a foreign cursor', '/v1/executions?cursor=e1.0', 400, 'invalid_cursor'],
    ['a tag without a value', '/v1/executions?tag=plan', 400, 'invalid_input'],
    ['too long a wait', '/v1/executions/nobody/result?wait=1h', 400, 'invalid_input'],
    ['a prototype', '/v1/executions?__proto__=1', 400, 'invalid_input'],
    ['a foreign cursor of events', '/v1/events?cursor=l1.0', 400, 'invalid_cursor'],
    ['the events of an unknown execution', '/v1/executions/nobody/events', 404, 'execution_not_found'],
  ])('with %s is refused', async (_what, path, status, code) => {
    const found = await served()
    const { body, headers, ...answer } = await read(await fetch(found.url + path))
    expect([answer.status, body['code'], headers.get('content-type')]).toEqual([
      status,
      code,
      'application/problem+json',
    ])
  })

  test('of another method is refused, with those that it has', async () => {
    const found = await served()
    const response = await fetch(`${found.url}/v1/executions`, { method: 'DELETE' })
    const { status, body, headers } = await read(response)
    expect([status, body['code'], headers.get('allow')]).toEqual([405, 'method_not_allowed', 'POST, GET'])
  })

  test('answers HEAD without a body', async () => {
    const found = await served()
    const response = await fetch(`${found.url}/v1/executions`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})

describe('an error', () => {
  test('has a code of the catalogue, advice, and the state that led to it', async () => {
    const found = await served()
    await found.ok('submitExecution', { body: { task: 'greet', id: 'a' } })
    const replay = { params: { id: 'a' } }
    const { status, body } = await found.call('replayExecution', replay)
    expect(status).toBe(409)
    expect(body).toMatchObject({
      code: 'execution_not_ended',
      retryable: false,
      detail: expect.any(String) as string,
      advice: 'Wait until it has ended, or cancel it.',
      context: { state: 'waiting' },
    })
  })

  test('of the store says when to try again, and names no host', async () => {
    const found = await served()
    await found.fabric.close()
    const { status, body, headers } = await found.call('listExecutions')
    expect([status, body['code'], body['retryable'], headers.get('retry-after')]).toEqual([
      503,
      'server_stopping',
      true,
      '1',
    ])
  })

  test('and every other answer carries the id of its request and no permission to cache, sniff or frame', async () => {
    const found = await served()
    const { headers } = await found.call('getHealth', { headers: { 'x-request-id': 'call-17' } })
    expect(headers.get('x-request-id')).toBe('call-17')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    const odd = await found.call('getHealth', { headers: { 'x-request-id': 'a b' } })
    expect(odd.headers.get('x-request-id')).not.toBe('a b')
  })
})

describe('an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'request-1' }

  test('is the id of a submit that names none, so a repetition joins', async () => {
    const found = await served()
    const submit = { body: { task: 'greet', input: 1 }, headers }
    const [first, again] = [await found.call('submitExecution', submit), await found.call('submitExecution', submit)]
    expect([first.status, again.status, again.body['id']]).toEqual([201, 200, first.body['id']])
    const other = { body: { task: 'greet', input: 2 }, headers }
    expect(await found.refusal('submitExecution', other)).toEqual([409, 'input_differs'])
  })

  test('makes a repeated submit that would replace an execution replace it once', async () => {
    const found = await served()
    const submit = { body: { task: 'greet', id: 'a', ifExists: 'replace' }, headers }
    await found.ok('submitExecution', { body: { task: 'greet', id: 'a' } })
    expect((await found.ok('submitExecution', submit))['kind']).toBe('replaced')
    expect((await found.ok('submitExecution', submit))['kind']).toBe('created')
    const events: string[] = []
    for await (const item of found.fabric.execution('a').events({ fromStart: true })) {
      if (item.kind === 'event') events.push(item.event.type)
      if (events.length === 2) break
    }
    expect(events).toEqual(['execution_created', 'execution_replaced'])
  })

  test('covers each item of a batch, and a signal', async () => {
    const found = await served()
    const items = [{ task: 'greet' }, { task: 'greet', input: 2 }]
    const first = await found.ok('submitExecutions', { body: { items }, headers })
    const again = await found.ok('submitExecutions', { body: { items }, headers })
    const ids = (body: typeof first) =>
      (body['items'] as { execution: { id: string } }[]).map(({ execution }) => execution.id)
    expect(ids(again)).toEqual(ids(first))
    expect((await found.fabric.list()).items).toHaveLength(2)

    const signal = { params: { id: ids(first)[0] ?? '' }, body: { name: 'paid' }, headers }
    expect((await found.ok('sendSignal', signal))['kind']).toBe('delivered')
    expect((await found.ok('sendSignal', signal))['kind']).toBe('duplicate')
  })

  test('that is too long is refused', async () => {
    const found = await served()
    const long = { 'idempotency-key': 'k'.repeat(600) }
    expect(await found.refusal('submitExecution', { body: { task: 'greet' }, headers: long })).toEqual([
      400,
      'invalid_input',
    ])
    await expectNothingSubmitted(found)
  })
})

/** Sends bytes and returns all that comes back before the connection closes. */
function raw(found: Served, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(found.server.port, '127.0.0.1', () => socket.write(text))
    onTestFinished(() => void socket.destroy())
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', (data: string) => (received += data))
    socket.on('close', () => resolve(received))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve(received) : reject(error),
    )
  })
}

describe('a hostile connection', () => {
  test.each([
    ['no HTTP', 'GARBAGE\r\n\r\n', '400 Bad Request'],
    ['a flood of headers', `GET /v1/health HTTP/1.1\r\nHost: a\r\n${'x: y\r\n'.repeat(20_000)}\r\n`, '431 '],
    ['a huge header', `GET /v1/health HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, '431 '],
    ['a huge path', `GET /${'y'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, '431 '],
    [
      'two lengths',
      'POST /v1/executions HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      '400 ',
    ],
    [
      'a smuggled body',
      'POST /v1/executions HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      '400 ',
    ],
    ['a path of another host', 'GET http://other/v1/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', '400 '],
    ['a host that is none', 'GET /v1/health HTTP/1.1\r\nHost: a/b?c\r\nConnection: close\r\n\r\n', '400 '],
    ['a method that no browser sends', 'TRACE /v1/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', '405 '],
  ])('with %s is refused, and the server stays up', async (_what, text, status) => {
    const found = await served()
    expect(await raw(found, text)).toContain(`HTTP/1.1 ${status}`)
    expect(await found.ok('getHealth')).toEqual({ status: 'ok' })
  })

  test('with a method that no browser sends gets a request id, as every request does', async () => {
    const found = await served()
    const send = async (...headers: string[]) =>
      await raw(found, ['TRACE /v1/health HTTP/1.1', 'Host: a', ...headers, 'Connection: close', '', ''].join('\r\n'))
    const given = await send('X-Request-Id: from-a-proxy')
    expect(given).toMatch(/^x-request-id: from-a-proxy\r$/im)
    expect(given).toContain('"requestId":"from-a-proxy"')
    expect(given).toMatch(/^x-content-type-options: nosniff\r$/im)
    expect(await send()).toMatch(/"requestId":"[0-9a-f-]{36}"/)
  })

  test('that never ends its request does not delay the end of the server', async () => {
    const found = await served()
    const head =
      'POST /v1/executions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"task"'
    const slow = raw(found, head)
    await found.ok('getHealth')
    await found.server.close()
    await slow
    await expectNothingSubmitted(found)
  })
})
