/** What a holder may stream, and take from an inbox; and how both are read. */
import type { AppendFramesInput, AppendLogLinesInput, Fence } from '../../../src/kernel/index.ts'
import { fences } from './holder-trials.ts'
import { MAILBOX } from './journal-world.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { executionId, ownFence } from './world.ts'

const blobs: readonly string[] = ['three frames', 'live', '{"stage":1}']
const frames = { blob: 0, size: 12, encoding: 'bytes' } as const
const live = { count: 1, newCount: 1, frames: { blob: 1, size: 4, encoding: 'bytes' } } as const
const summary = { from: 0, document: { blob: 2, size: 11, encoding: 'json' } } as const

function trial(manner: string, call: OperationCall): Trial {
  return { ...call, manner, atMs: SOON_MS, blobs, prepare: undefined, about: 'journal' }
}

function appends(manner: string, fence: Fence, changes: Partial<AppendFramesInput>): Trial {
  const chunk = { count: 3, newCount: 3, frames }
  return trial(manner, { operation: 'appendFrames', input: { executionId, fence, append: 1, chunk, ...changes } })
}

function logs(manner: string, fence: Fence, changes: Partial<AppendLogLinesInput>): Trial {
  const chunk = { count: 3, newCount: 3, frames }
  return trial(manner, { operation: 'appendLogLines', input: { executionId, fence, append: 1, chunk, ...changes } })
}

function takes(manner: string, fence: Fence, takenTo: number): Trial {
  const name = MAILBOX.slice(1)
  return trial(manner, { operation: 'takeSignals', input: { executionId, fence, name, takenTo, limit: 1 } })
}

export const streamTrials: readonly Trial[] = [
  ...fences.map(({ name, fence }) => appends(name, fence, {})),
  ...fences.map(({ name, fence }) => takes(name, fence, 0)),
  appends('with live frames and a summary', ownFence, { live, summary }),
  appends('a summary alone', ownFence, { chunk: undefined, summary }),
  appends('a summary of another version', ownFence, { summary: { ...summary, from: 7 } }),
  appends('out of order', ownFence, { append: 2 }),
  appends('to a chunk of another holder', ownFence, { chunk: { extend: 1, count: 4, newCount: 1, frames } }),
  ...fences.map(({ name, fence }) => logs(name, fence, {})),
  logs('out of order', ownFence, { append: 2 }),
  logs('to a chunk of another holder', ownFence, { chunk: { extend: 1, count: 4, newCount: 1, frames } }),
  takes('all that are there', ownFence, 1_000_000),
  trial('', { operation: 'readFrames', input: { executionId, chunk: 1, liveAfter: 0, summaryAfter: 0 } }),
  trial('', { operation: 'readLogLines', input: { executionId, chunk: 1 } }),
]
