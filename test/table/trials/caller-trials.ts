/** Calls without a lease: submit, claim, steer and read. */
import { TAG_COUNT_MAX } from '../../../src/kernel/index.ts'
import type { ClaimInput, CreateInput, Tag } from '../../../src/kernel/index.ts'
import { busyFlow, upstreamReplayed } from './flow-world.ts'
import { DEADLINE_OVER_MS, LEASES_OVER_MS, SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import {
  CANCEL_GRACE_MS,
  DELAY_MS,
  executionId,
  newClaim,
  newSubmit,
  payload,
  secondClaim,
  submitRequest,
  submitWithoutPayload,
} from './world.ts'

function create(manner: string, input: CreateInput): Trial {
  return {
    operation: 'createExecution',
    manner,
    atMs: SOON_MS,
    blobs: payload,
    input,
  }
}

/** A change that differs from what was submitted first in all that can be seen in an index. */
function anotherSubmit(ifExists: CreateInput['ifExists']): CreateInput {
  return { ...submitWithoutPayload('submit-2'), ifExists, lane: 'side', priority: 9_000, tags: [] }
}

function claim(manner: string, atMs: number, input: ClaimInput): Trial {
  return { operation: 'claimForWorker', manner, atMs, blobs: [], input }
}

function manyTags(): Tag[] {
  const tags: Tag[] = []
  for (let i = 0; i < TAG_COUNT_MAX; i++) tags.push({ name: 't' + String(i), value: 'v', indexed: false })
  return tags
}

function cancel(manner: string, force: boolean): Trial {
  return {
    operation: 'cancelExecution',
    manner,
    atMs: SOON_MS,
    blobs: [],
    input: { executionId, reason: 'too late', by: 'bob', force, graceMs: CANCEL_GRACE_MS },
  }
}

function revoke(manner: string, leaseId: string | undefined): Trial {
  return {
    operation: 'revokeLease',
    manner,
    atMs: SOON_MS,
    blobs: [],
    input: { executionId, leaseId, reason: 'stuck', by: 'bob' },
  }
}

function prioritise(manner: string, priority: number): Trial {
  return {
    operation: 'changePriority',
    manner,
    atMs: SOON_MS,
    blobs: [],
    input: { executionId, priority },
  }
}

function tag(manner: string, set: readonly Tag[], remove: readonly string[]): Trial {
  return {
    operation: 'setTags',
    manner,
    atMs: SOON_MS,
    blobs: [],
    input: { executionId, set, remove },
  }
}

function replay(manner: string, subtree: boolean, prepare: Trial['prepare']): Trial {
  return {
    operation: 'replayExecution',
    manner,
    atMs: SOON_MS,
    blobs: [],
    prepare,
    input: { executionId, requestId: 'replay-1', reason: 'fixed', by: 'bob', subtree },
  }
}

export const callerTrials: readonly Trial[] = [
  create('the first submit repeated', newSubmit(submitRequest)),
  create('reject', anotherSubmit('reject')),
  create('join', anotherSubmit('join')),
  create('join by another task', { ...anotherSubmit('join'), task: 'another', class: 'another' }),
  create('the same input', anotherSubmit(undefined)),
  create('another input', { ...anotherSubmit(undefined), digest: 'other' }),
  create('after', anotherSubmit('after')),
  create('after, delayed', { ...submitWithoutPayload('submit-2'), ifExists: 'after', delayMs: DELAY_MS }),
  create('replace', anotherSubmit('replace')),
  create('replace, delayed', { ...anotherSubmit('replace'), delayMs: DELAY_MS }),
  claim('a new claim', SOON_MS, newClaim('claim-3')),
  {
    ...claim('of a worker without conditions, after leases are over', LEASES_OVER_MS, {
      ...newClaim('claim-3'),
      isPlain: true,
    }),
    takesTimersFirst: true,
  },
  claim('of a worker without conditions', SOON_MS, { ...newClaim('claim-3'), isPlain: true }),
  claim('after delays and leases are over', LEASES_OVER_MS, newClaim('claim-3')),
  claim('after the deadline', DEADLINE_OVER_MS, newClaim('claim-3')),
  claim("the holder's claim repeated", SOON_MS, { ...newClaim(secondClaim), repeated: true }),
  claim("the holder's claim repeated by another process", SOON_MS, {
    ...newClaim(secondClaim),
    workerInstanceId: 'pool-b',
    repeated: true,
  }),
  cancel('asked', false),
  cancel('forced', true),
  revoke('any lease', undefined),
  revoke("the holder's lease", secondClaim),
  revoke('a lease that is gone', 'claim-1'),
  prioritise('another', 9_000),
  prioritise('the same', 5),
  tag('set and remove', [{ name: 'plan', value: 'free', indexed: true }], ['team']),
  tag('as they are', [{ name: 'plan', value: 'pro', indexed: true }], []),
  tag('too many', manyTags(), []),
  replay('', false, undefined),
  replay('with all that was skipped behind it', true, undefined),
  replay('behind one that is replayed', false, upstreamReplayed),
  replay('while its flow is busy', false, busyFlow),
  {
    operation: 'describeExecution',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: { executionId, attempts: true, payload: true, result: true },
  },
  {
    operation: 'listExecutions',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: { limit: 10 },
  },
  {
    operation: 'countExecutions',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: {},
  },
  {
    operation: 'deleteExecution',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: { executionId, by: 'bob' },
  },
  {
    operation: 'countKept',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: {},
  },
  {
    operation: 'listKept',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: { namespace: 'default', task: 'greet', keep: 1 },
  },
  {
    operation: 'listQueues',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: { lane: 'main' },
  },
  {
    operation: 'explainExecution',
    manner: '',
    atMs: SOON_MS,
    blobs: [],
    input: { executionId },
  },
]
