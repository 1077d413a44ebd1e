/** Calls that concern durable consumers of events. */
import type { RenewConsumerInput, WebhookChange } from '../../../src/kernel/index.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { step } from './world.ts'
import type { World } from './world.ts'

const TTL_MS = 15_000
const only = { consumerId: 'default\u001fbilling' }

const renewal: RenewConsumerInput = {
  ...only,
  memberId: 'one',
  callNumber: 1,
  ttlMs: TTL_MS,
  filter: {
    types: ['execution_ended'],
    namespace: 'default',
    task: undefined,
    lane: undefined,
    tag: undefined,
    storeWide: undefined,
  },
  progress: [],
  release: [],
  isLeaving: false,
  handledCount: 0,
  skippedCount: 0,
  missedCount: 0,
}
const create = { namespace: 'default', name: 'billing', positions: [{ position: 3 }, { position: 5, mark: 77 }] }
const later = {
  ...renewal,
  callNumber: 2,
  revision: 1,
  progress: [{ partition: 1, position: 9, mark: 78 }],
  handledCount: 2,
  failure: { partition: 0, sequence: 4, tryCount: 3, error: 'Error: no' },
}

function joined(world: World): void {
  step(world, 0, { operation: 'renewConsumer', input: { ...renewal, create } })
}

function trial(call: OperationCall, manner = '', prepare?: (world: World) => void, atMs = SOON_MS): Trial {
  return { ...call, manner, atMs, blobs: [], about: 'registry', prepare }
}

const webhookOnly = { consumerId: 'default\u001fcrm\u001fwebhook' }
const secret = { keyId: 'k1', sealed: 'sealed one' }
const define: WebhookChange = {
  kind: 'define',
  url: 'https://crm.example.com/hooks',
  filter: renewal.filter,
  disableAfterMs: 1_000,
  create: { namespace: 'default', name: 'crm', positions: [{ position: 3 }], secret },
}

function defined(world: World): void {
  step(world, 0, { operation: 'changeWebhook', input: { ...webhookOnly, change: define } })
}

function failing(world: World): void {
  defined(world)
  const change = { kind: 'failed', error: 'status 500', isGone: false } as const
  step(world, 0, { operation: 'changeWebhook', input: { ...webhookOnly, change } })
}

function disabled(world: World): void {
  defined(world)
  step(world, 0, { operation: 'changeWebhook', input: { ...webhookOnly, change: { kind: 'disable', by: 'ada' } } })
}

function change(what: WebhookChange, manner: string, prepare?: (world: World) => void): Trial {
  return trial({ operation: 'changeWebhook', input: { ...webhookOnly, change: what } }, manner, prepare)
}

export const consumerTrials: readonly Trial[] = [
  trial({ operation: 'renewConsumer', input: renewal }, 'none'),
  trial({ operation: 'renewConsumer', input: { ...renewal, create } }, 'a new one'),
  trial({ operation: 'renewConsumer', input: later }, 'with progress', joined),
  trial({ operation: 'renewConsumer', input: { ...later, callNumber: 1 } }, 'with an old call number', joined),
  trial({ operation: 'renewConsumer', input: { ...later, revision: 7 } }, 'of another revision', joined),
  trial({ operation: 'renewConsumer', input: { ...renewal, memberId: 'two' } }, 'of a second member', joined),
  trial(
    { operation: 'renewConsumer', input: { ...renewal, memberId: 'two' } },
    'after a member expired',
    joined,
    TTL_MS + 1,
  ),
  trial({ operation: 'renewConsumer', input: { ...later, isLeaving: true } }, 'of a member that leaves', joined),
  trial({ operation: 'seekConsumer', input: { ...only, positions: [] } }, 'none'),
  trial({ operation: 'seekConsumer', input: { ...only, positions: [{ partition: 0, position: 1 }] } }, 'one', joined),
  trial({ operation: 'deleteConsumer', input: only }, 'none'),
  trial({ operation: 'deleteConsumer', input: only }, 'one', joined),
  trial({ operation: 'describeConsumer', input: only }, 'none'),
  trial({ operation: 'describeConsumer', input: only }, 'one', joined),
  trial({ operation: 'listConsumers', input: {} }, '', joined),
  trial({ operation: 'listConsumers', input: { webhooks: true } }, 'webhooks', defined),
  change({ kind: 'enable' }, 'none'),
  change(define, 'a new one'),
  change(define, 'an equal one', defined),
  change({ ...define, url: 'https://crm.example.com/other' }, 'another URL', defined),
  change({ ...define, filter: { ...renewal.filter, lane: 'slow' } }, 'another filter', defined),
  change({ kind: 'rotate', secret: { keyId: 'k1', sealed: 'two' }, graceMs: 60_000 }, 'a new secret', defined),
  change({ kind: 'reseal', sealed: secret.sealed, secret: { keyId: 'k2', sealed: 'x' } }, 'another key', defined),
  change({ kind: 'reseal', sealed: 'gone', secret }, 'a secret that is gone', defined),
  change({ kind: 'disable', by: 'ada' }, 'disabled', defined),
  change({ kind: 'disable', by: 'ada' }, 'disabled again', disabled),
  change({ kind: 'enable' }, 'enabled', disabled),
  change({ kind: 'enable' }, 'enabled again', defined),
  change({ kind: 'delivered' }, 'after a success', defined),
  change({ kind: 'delivered' }, 'after a failure', failing),
  change({ kind: 'failed', error: 'status 500', isGone: false }, 'a first failure', defined),
  change({ kind: 'failed', error: 'status 410', isGone: true }, 'gone', defined),
  change({ kind: 'failed', error: 'status 500', isGone: false }, 'a failure after the bound', failing),
]
