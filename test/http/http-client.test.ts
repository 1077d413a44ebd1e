/** The client for browsers: its calls, its errors, its streams after a cut, and what it bundles to. */
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { expect, onTestFinished, test } from 'vitest'
import { errorCatalogue } from '../../src/kernel/errors.ts'
import { EngineError, ExecutionEndedError, connect } from '../../src/http.ts'
import { byRole, served } from './served.ts'
import { work } from './story.ts'

/** Minified, before compression, without the texts of errors, of which there is one for each code. */
const CLIENT_BYTES_MAX = 24_000

test('submits, reads, acts, and throws what the server refuses', async () => {
  const found = await served({ authenticate: byRole })
  await work(found.fabric)
  const api = connect(`${found.url}/`, { token: () => Promise.resolve('operator') })
  const { id, kind } = await api.submit('greet', { name: 'Ada' }, { id: 'greet:ada', tags: { plan: 'pro' } })
  expect([kind, await api.result(id)]).toEqual(['created', { greeted: { name: 'Ada' } }])
  const { items } = await api.get('/v1/executions', { query: { state: 'completed', limit: 5 } })
  expect(items.map(({ key }) => key)).toEqual(['greet:ada'])
  await api.patch('/v1/executions/{id}/tags', { params: { id }, body: { tags: { plan: null } } })
  expect((await api.get('/v1/executions/{id}', { params: { id } })).tags).toEqual({})
  expect(await api.put('/v1/limits/{limit}', { params: { limit: 'a/b' }, body: { concurrency: 1 } })).toEqual({
    kind: 'defined',
  })
  expect(await api.delete('/v1/limits/{limit}', { params: { limit: 'a/b' } })).toEqual({ kind: 'deleted' })

  await api.submit('bytes', undefined, { id: 'bytes' })
  expect(await api.result('bytes')).toEqual(new Uint8Array([1, 2, 3]))
  await api.submit('refuse', 1, { id: 'refuse' })
  const failed = api.result('refuse')
  await expect(failed).rejects.toBeInstanceOf(ExecutionEndedError)
  await expect(failed).rejects.toMatchObject({
    outcome: 'failed',
    message: expect.stringContaining('refused 1') as string,
  })
  await expect(api.get('/v1/executions/{id}', { params: { id: 'nothing' } })).rejects.toMatchObject({
    code: 'execution_not_found',
    isRetryable: false,
  })
  const elsewhere = api.get('/v1/executions/{id}/waitpoints', { params: { id: '..' } })
  await expect(elsewhere).rejects.toMatchObject({ code: 'invalid_input', detail: { field: 'id' } })
  await expect(connect(found.url).get('/v1/executions', {})).rejects.toMatchObject({ code: 'unauthorized' })
  const gone = connect('http://127.0.0.1:9', { token: 'operator' }).get('/v1/version', {})
  await expect(gone).rejects.toMatchObject({ code: 'store_unavailable', isRetryable: true })
  await expect(gone).rejects.toBeInstanceOf(EngineError)
})

test('follows a stream to its end, and continues after a cut without a gap or a repetition', async () => {
  const found = await served()
  await work(found.fabric)
  let cuts = 0
  /** Ends each answer after its first frame, as a broken connection does. */
  const cutting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null || response.headers.get('content-type') !== 'text/event-stream') return response
    let hasFrame = false
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (hasFrame) return
        controller.enqueue(chunk)
        if (!new TextDecoder().decode(chunk).includes('event: frame')) return
        hasFrame = true
        cuts += 1
        controller.terminate()
      },
    })
    return new Response(response.body.pipeThrough(cut), { status: response.status, headers: response.headers })
  }
  const api = connect(found.url, { fetch: cutting })
  const params = { id: 'narrate' }
  await api.submit('narrate', undefined, params)
  const values: unknown[] = []
  const frames = api.events('/v1/executions/{id}/frames/live', { params, query: { name: 'token' } })
  for await (const { data } of frames) {
    if (data.kind !== 'frame') continue
    values.push(data.value)
    if (data.sequence === 3) await api.post('/v1/executions/{id}/signals', { params, body: { name: 'more' } })
  }
  expect(values).toEqual(['one', 'two', 'three', { word: 'four' }])
  expect(cuts).toBeGreaterThan(0)

  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const log = api.events('/v1/events', { query: { fromStart: true }, signal: leave.signal })
  for await (const { event } of log) if (event === 'execution_ended') break
  await expect(connect(found.url).events('/v1/flows/{id}/events', { params }).next()).rejects.toMatchObject({
    code: 'flow_not_found',
  })
})

test('a browser can import it: it is small and uses nothing of Node', async () => {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      modulePreload: false,
      rolldownOptions: {
        input: fileURLToPath(new URL('../../src/http.ts', import.meta.url)),
        preserveEntrySignatures: 'strict',
        external: /^node:/,
      },
    },
  })
  const [chunk] = [built].flat().flatMap((each) => ('output' in each ? each.output : []))
  if (chunk?.type !== 'chunk') throw new Error('The bundle has no code.')
  expect([...chunk.imports, ...chunk.dynamicImports]).toEqual([])
  expect(/["'`]node:|\bBuffer\.|\bprocess\./.exec(chunk.code)).toBeNull()
  const texts = Object.values(errorCatalogue).flatMap(({ text, advice }) => [text, advice])
  expect(chunk.code.length - texts.join('').length).toBeLessThan(CLIENT_BYTES_MAX)
})
