/** What a scrape of a running process says of the work that it has done. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { budget, createFabric, limit, task } from '../../src/index.ts'
import { until } from '../servers/until.ts'
import { root, workplace } from './workplace.ts'

const HANDLERS = `
import { PermanentError, task } from 'flowfabric'
export const charge = task('charge', { lane: 'payments' }).handle((_, ctx) => ctx.spend({ cost: 7 }, { key: 'once' }))
export const refuse = task('refuse').handle(() => {
  throw new PermanentError('never')
})
`

const charge = task('charge', {
  lane: 'payments',
  budgets: [budget('money', { hard: { cost: 100 } })],
  limits: [limit('provider', { concurrency: 5 })],
})

const LIMIT_MS = 60_000

/** Values of a scrape after the work of the test, by series. */
const SERIES: readonly (readonly [string, RegExp])[] = [
  ['ff_executions_submitted_total{task="refuse",lane="default"}', /^1$/],
  ['ff_attempts_started_total{task="charge",lane="payments"}', /^2$/],
  ['ff_attempts_ended_total{task="charge",lane="payments",outcome="completed"}', /^2$/],
  ['ff_attempts_ended_total{task="refuse",lane="default",outcome="failed"}', /^1$/],
  ['ff_attempt_duration_seconds_count{task="charge"}', /^2$/],
  ['ff_attempt_start_latency_seconds_count{lane="payments"}', /^2$/],
  ['ff_lane_executions{lane="default",state="waiting"}', /^1$/],
  ['ff_lane_oldest_waiting_seconds{lane="default"}', /^[\d.]+$/],
  ['ff_workers{state="running"}', /^[1-9]/],
  ['ff_budget_spent{budget="money",dimension="cost"}', /^14$/],
  ['ff_budget_hard_limit{budget="money",dimension="cost"}', /^100$/],
  ['ff_limit_concurrency{limit="provider"}', /^5$/],
  ['ff_limit_held_permits{limit="provider"}', /^0$/],
  ['ff_consumer_lag_events{kind="webhook",namespace="default",consumer="crm"}', /^\d+$/],
  ['ff_webhook_disabled{namespace="default",webhook="crm"}', /^0$/],
  ['ff_store_operations_total{operation="createExecution",result="done"}', /^[1-9]/],
  ['ff_store_batch_operations_count{family="fp"}', /^[1-9]/],
  ['ff_store_batch_duration_seconds_count{family="fp"}', /^[1-9]/],
  ['ff_scanner_cycle_total{scanner="due"}', /^[1-9]/],
  ['ff_http_requests_total{method="POST",path="/v1/executions",status="201"}', /^2$/],
  ['ff_store_up', /^1$/],
]

test('a scrape counts what was submitted, started and ended, and measures the store, engine, limits and budgets', async () => {
  const place = await workplace()
  await place.install()
  await place.write('handlers.ts', HANDLERS)
  const dev = place.start(['dev', 'handlers.ts', '--no-watch', '--port', '0', '--json'])
  const [, url = ''] = await dev.prints(/"url":"([^"]+)"/)
  await place.json('webhooks', 'define', 'crm', 'http://127.0.0.1:9/', '--allow-private', '--task', 'none')
  await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent' })
  for (let i = 0; i < 2; i++) await fabric.submit(charge, undefined)
  for (const name of ['refuse', 'unserved']) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/executions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ task: name }),
    })
    expect(response.status).toBe(201)
  }

  let text = ''
  const wrong = async () => {
    text = await (await fetch(`${url}/metrics`)).text()
    const values = new Map(
      text.split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').at(-1)]),
    )
    return SERIES.filter(([series, value]) => !value.test(values.get(series) ?? ''))
  }
  let missing = SERIES
  await until('the metrics say what has happened', LIMIT_MS, async () => {
    missing = await wrong()
    return missing.length === 0 || undefined
  }).catch(() => undefined)
  expect(missing, text).toEqual([])

  const page = await readFile(path.join(root, 'docs/metrics-reference.md'), 'utf8')
  const scraped = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  expect(scraped.length).toBeGreaterThan(30)
  for (const name of scraped) expect(page).toContain(`\`${name}\``)
  await dev.endBy('SIGTERM')
})
