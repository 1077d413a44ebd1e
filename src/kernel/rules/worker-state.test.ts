import { expect, test } from 'vitest'
import { WORKER_FORGET_MS } from '../limits.ts'
import type { Worker } from '../model/records.ts'
import { unpackRecord } from '../model/schema.ts'
import { entriesOf } from './index-entries.ts'
import { hasLapsed, isRegistered, servesNamespace, sweepSince, workerDueAt } from './worker-state.ts'

function worker(phase: Worker['state']['phase'], fields: Partial<Worker> = {}): Worker {
  const state = { phase, at: 500 } as Worker['state']
  const blank = unpackRecord('worker', [])
  return { ...blank, id: 'pool-a', state, heartbeatAt: 400, ttlMs: 30, leaseTtlMs: 1, ...fields }
}

const live = ['running', 'draining'] as const
const gone = ['lost', 'dead'] as const

test('a registration is live while its worker runs or drains', () => {
  expect(live.map((phase) => isRegistered(worker(phase)))).toEqual([true, true])
  expect(gone.map((phase) => isRegistered(worker(phase)))).toEqual([false, false])
})

test('a live registration lapses once its heartbeats have stopped for its time', () => {
  for (const phase of live) {
    expect([429, 430, 431].map((now) => hasLapsed(worker(phase), now))).toEqual([false, true, true])
    expect(workerDueAt(worker(phase))).toBe(430)
  }
  expect(gone.map((phase) => hasLapsed(worker(phase), 431))).toEqual([false, false])
})

test('a registration that is not live is forgotten after a time, and not before its leases have expired', () => {
  for (const phase of gone) {
    expect(workerDueAt(worker(phase))).toBe(500 + WORKER_FORGET_MS)
    expect(workerDueAt(worker(phase, { leaseTtlMs: WORKER_FORGET_MS + 7 }))).toBe(507 + WORKER_FORGET_MS)
  }
})

test('the leases of a lost or dead worker wait to be revoked since its loss, until they are', () => {
  expect(live.map((phase) => sweepSince(worker(phase)))).toEqual([undefined, undefined])
  expect(gone.map((phase) => sweepSince(worker(phase)))).toEqual([500, 500])
  expect(gone.map((phase) => sweepSince(worker(phase, { sweptAt: 501 })))).toEqual([undefined, undefined])
})

test('a worker stands among all workers, by its timer, and while its leases wait to be revoked', () => {
  const indexesOf = (one: Worker) => entriesOf(one).map(({ index, score, id }) => [index, score, id])
  const known = ['@workers', 0, 'pool-a']

  expect(indexesOf(worker('running'))).toEqual([known, ['@due\u001fworker', 430, 'pool-a']])
  expect(indexesOf(worker('lost'))).toEqual([
    known,
    ['@due\u001fworker', 500 + WORKER_FORGET_MS, 'pool-a'],
    ['@unswept_workers', 500, 'pool-a'],
  ])
})

test('a worker serves the namespace that it names, or all', () => {
  const served = (namespace: string, wanted: string | undefined) =>
    servesNamespace(worker('running', { namespace }), wanted)

  expect([served('acme', 'acme'), served('acme', 'beta'), served('acme', undefined)]).toEqual([true, false, true])
  expect([served('', 'acme'), served('', undefined)]).toEqual([true, true])
})
