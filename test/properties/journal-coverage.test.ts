/** Random sequences are worth what they reach: every answer of every operation on journals, many times. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { virtualRuntime } from '../../src/runtime/index.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import { executionPartition } from '../../src/stores/store.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
import type { Batch } from './commands.ts'
import { anyDeepJournalBatches, anyJournalBatches } from './journal-sequences.ts'
import { Script } from './script.ts'

const SEED = 1
const SEQUENCES = 1_000
const DEEP_SEQUENCES = 40
/** How often each must be met. What takes a great deal to come about is met less often. */
const OFTEN = 5
const SELDOM = 3

const lease = ['stale_lease', 'lease_expired', 'lease_revoked', 'execution_not_active']
const refusals = (...codes: readonly string[]): string[] => codes.map((code) => `refused ${code}`)

const expected: Readonly<Record<string, readonly string[]>> = {
  recordStep: [
    ...['recorded', 'already_recorded', 'suspended', 'already_suspended', 'cancelled', 'already_cancelled'],
    ...refusals(...lease, 'execution_not_found'),
  ],
  suspendExecution: [
    ...['suspended', 'already_suspended', 'answered', 'cancelled', 'already_cancelled'],
    ...refusals(...lease, 'execution_not_found', 'waitpoint_not_found', 'waitpoint_closed'),
  ],
  createWaitpoint: ['opened', 'already_opened', ...refusals(...lease, 'execution_not_found')],
  deliverSignal: [
    ...['resumed', 'counted', 'counted_before', 'not_awaited', 'buffered'].map((effect) => `delivered ${effect}`),
    ...['resumed', 'counted', 'counted_before', 'not_awaited', 'buffered'].map((effect) => `duplicate ${effect}`),
    ...refusals('execution_not_found', 'execution_ended', 'waitpoint_not_found', 'waitpoint_closed', 'token_expired'),
  ],
  resumeExecution: ['resumed', ...refusals('execution_not_found', 'execution_not_suspended', 'waits_elsewhere')],
  closeWaitpoint: [
    ...['closed', 'already_closed'],
    ...refusals(...lease, 'execution_not_found', 'waitpoint_not_found', 'waitpoint_awaited'),
  ],
  reissueWaitpoint: ['reissued', ...refusals('execution_not_found', 'waitpoint_not_found', 'waitpoint_closed')],
  readSteps: ['steps', ...refusals('execution_not_found')],
  readSignals: ['signals', ...refusals('execution_not_found')],
  listWaitpoints: ['waitpoints', ...refusals('execution_not_found')],
  listOpenWaitpoints: ['waitpoints'],
  replayExecution: ['replayed', 'already_replayed', ...refusals('execution_not_ended', 'step_not_found')],
}

/** Bounds that only a great deal brings about. */
const expectedOfDeep: Readonly<Record<string, readonly string[]>> = {
  createWaitpoint: refusals('waitpoint_limit_exceeded'),
  deliverSignal: refusals('signal_buffer_full'),
  replayExecution: refusals('retention_over'),
}

async function reached(sequences: readonly (readonly Batch[])[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const runtime = virtualRuntime()
  const store = await openStore('memory:', { runtime, indexedTags: ['team'] })
  for (const [number, batches] of sequences.entries()) {
    const script = new Script(number)
    for (const { commands, stepMs } of batches) {
      for (const command of commands) {
        if (command.kind === 'advance') runtime.jump(command.ms)
        const sent = script.callFor(command)
        if (sent === undefined) continue
        const [answer] = await store.run(executionPartition(number), [sent])
        script.note(sent, answer)
        const told = textOf(sent, answer)
        counts.set(told, (counts.get(told) ?? 0) + 1)
      }
      runtime.jump(stepMs)
    }
  }
  await store.close()
  return counts
}

function textOf({ operation }: Call, answer: Answer | undefined): string {
  if (answer?.kind !== 'answered') return `${operation} ${answer?.kind ?? 'nothing'}`
  const { result } = answer
  const detail = result.kind === 'refused' ? result.code : 'effect' in result ? result.effect : undefined
  return [operation, result.kind, ...(detail === undefined ? [] : [detail])].join(' ')
}

function met(counts: ReadonlyMap<string, number>, wanted: Readonly<Record<string, readonly string[]>>) {
  return Object.entries(wanted).flatMap(([operation, answers]) =>
    answers.map((answer) => ({ told: `${operation} ${answer}`, count: counts.get(`${operation} ${answer}`) ?? 0 })),
  )
}

test('random sequences meet every answer of every operation on journals often', async () => {
  const counts = await reached(fc.sample(anyJournalBatches, { numRuns: SEQUENCES, seed: SEED }))

  expect(met(counts, expected).filter(({ count }) => count < OFTEN)).toEqual([])
})

test('large journals meet the bounds', async () => {
  const counts = await reached(fc.sample(anyDeepJournalBatches, { numRuns: DEEP_SEQUENCES, seed: SEED }))

  expect(met(counts, expectedOfDeep).filter(({ count }) => count < SELDOM)).toEqual([])
})
