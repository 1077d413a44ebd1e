/**
 * Looks for planted values in everything that the processes print: values of users and secrets must not be in their output, their logs
 * or their metrics, whatever succeeds and whatever fails.
 */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { workplace } from './workplace.ts'
import type { Running, Workplace } from './workplace.ts'

const HANDLERS = `
import { signal, task } from 'flowfabric'

const any = { '~standard': { version: 1, vendor: 'test', validate: (given) => ({ value: given }) } }

export const child = task('child').handle(({ secret }) => 'canary-child-result ' + secret)

export const carry = task('carry', { frames: { token: any } }).handle(async ({ secret }, ctx) => {
  await ctx.summary.patch({ shown: 'canary-summary' })
  await ctx.step('keep', () => 'canary-step ' + secret)
  await ctx.frames.token('canary-frame')
  await ctx.call('child', child.task, { secret: 'canary-child-input' })
  const answer = await ctx.waitFor('answer', signal('answer'))
  return { kept: 'canary-result', answer }
})

export const strict = task('strict', {
  input: { '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'is not right' }] }) } },
}).handle(() => 'never')
`

const CANARY = /canary-[a-z-]+/g

/** Everything that a process has printed. */
function printed({ stdout, stderr }: Running): string {
  return stdout + stderr
}

async function call(url: string, token: string, body: unknown): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  await response.text()
  return response.status
}

async function untilState(place: Workplace, key: string, state: string): Promise<void> {
  for (;;) {
    const found = await place.json<{ state: string }>('show', key)
    if (found.state === state) return
    expect(found.state).not.toBe('failed')
  }
}

test('no value of a user and no secret is in the output, the logs or the metrics of a process', async () => {
  const place = await workplace()
  await place.install()
  await place.write('handlers.ts', HANDLERS)
  const env = { FLOWFABRIC_LOG_LEVEL: 'debug' }
  const tokens = place.path('tokens')
  const { token } = await place.json<{ token: string }>('tokens', 'create', 'root', '--role', 'admin', '--file', tokens)
  const dev = place.start(['dev', 'handlers.ts', '--no-server', '--json'], { env })
  await dev.prints(/"kind":"started"/)
  const server = place.start(['server', '--port', '0', '--tokens', tokens, '--json'], { env })
  const [, url = ''] = await server.prints(/"url":"([^"]+)"/)
  await writeFile(place.path('input.json'), JSON.stringify({ secret: 'canary-input' }))

  await place.run(['submit', 'carry', '@input.json', '--id', 'carried'])
  await place.run(['submit', 'strict', '@input.json', '--id', 'refused'])
  await dev.prints(/input_refused/)
  const submitted = await call(`${url}/v1/executions`, token, {
    task: 'carry',
    input: { secret: 'canary-body' },
    id: 'http',
  })
  const malformed = await call(`${url}/v1/executions`, token, '{"task":"carry","input":"canary-malformed"')
  const unknown = await call(`${url}/v1/executions`, token, { task: 'carry', input: {}, canary: 'canary-field' })
  const stranger = await call(`${url}/v1/executions`, 'canary-token', { task: 'carry' })
  await untilState(place, 'carried', 'suspended')
  await place.run(['signal', 'carried', 'answer', '"canary-signal"'])
  await untilState(place, 'carried', 'completed')
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })

  expect([submitted, malformed, unknown, stranger]).toEqual([201, 400, 400, 401])
  expect(metrics.status).toBe(200)
  const seen = printed(dev) + printed(server) + (await metrics.text())
  expect(seen).toContain('execution_ended')
  expect(seen.match(CANARY) ?? []).toEqual([])
  expect(seen).not.toContain(token)
  await dev.endBy('SIGTERM')
  await server.endBy('SIGTERM')
  expect((printed(dev) + printed(server)).match(CANARY) ?? []).toEqual([])
})
