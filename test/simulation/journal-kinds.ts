/** Work that remembers and waits: one kind for each way in which a step, a wait or a signal can go. */
import { ExecutionCancelledError, PermanentError, approval, signal } from '../../src/client/index.ts'
import { sleep } from '../../src/runtime/index.ts'
import { kind, obey } from './kind.ts'
import type { Kind, Scene } from './kind.ts'
import { callBack, callOff, resumeIt, sendItems, sendLate, voteOn } from './journal-plan.ts'

const soon = { attempts: 4, backoff: { kind: 'fixed', delay: 300 }, jitter: false } as const
/** Longer than a step holds its worker for. */
const parking = { attempts: 4, backoff: { kind: 'fixed', delay: 6_000 }, jitter: false } as const
const NAP_MS = 700
/** What `patient` and its sender aim at together. */
const PATIENCE_MS = 1_000
export const ITEM_COUNT = 3
/** Longer than a worker that stops lets its handlers finish. */
const HELD_MS = 2_200
const VOTERS = ['ann', 'bob', 'cat'] as const

export const journalKinds: readonly Kind[] = [
  kind('stepping', { settings: { retry: soon } }, async (scene) => {
    await scene.calls.step('first')
    await pause(scene)
    await Promise.all([scene.calls.step('left'), scene.calls.step('right')])
    if (scene.context.failureCount === 0) throw new Error('It fails once, between two steps.')
    await scene.calls.step('last')
  }),
  kind('resigning', {}, async (scene) => {
    try {
      await scene.calls.step('before')
      await obey(scene, HELD_MS)
      await scene.calls.step('after')
    } catch (error) {
      throw new PermanentError('It gives up for whatever reason.', { cause: error })
    }
  }),
  kind('content', {}, async (scene) => {
    try {
      await scene.calls.step('before')
      await scene.context.step('held', ({ signal }) => sleep(scene.runtime, HELD_MS, signal))
      await scene.calls.step('after')
      return undefined
    } catch {
      return 'fallback'
    }
  }),
  kind('stumbling', {}, async (scene) => {
    await scene.calls.step('before')
    await scene.calls.step('stumble', failBefore(3), { retry: parking })
    await scene.calls.step('after')
  }),
  kind('resting', {}, async (scene) => {
    await scene.calls.step('before')
    const from = await scene.calls.now('from')
    await scene.context.sleep('nap', NAP_MS)
    const to = await scene.calls.now('to')
    scene.calls.rested(to - from, NAP_MS)
  }),
  kind(
    'collecting',
    { then: { kind: 'act', act: (handle, stage) => sendItems(handle, stage, ITEM_COUNT) } },
    async (scene) => {
      await scene.calls.step('before')
      for (let number = 1; number <= ITEM_COUNT; number++) {
        await scene.calls.waitFor(`item ${number}`, signal('item'))
        await scene.calls.step(`took ${number}`)
      }
    },
  ),
  kind('voted', { then: { kind: 'act', act: (handle, stage) => voteOn(handle, stage, VOTERS) } }, async (scene) => {
    await scene.calls.step('ask')
    await scene.calls.waitFor('review', approval({ need: 2, of: VOTERS, rejections: 2 }))
    await scene.calls.step('after')
  }),
  kind('swept', { then: { kind: 'act', act: (handle, stage) => voteOn(handle, stage, VOTERS) } }, async (scene) => {
    for (const name of ['one', 'two', 'three']) await scene.calls.step(name)
    await scene.context.sleep('nap', NAP_MS)
    await scene.calls.step('four')
    await scene.calls.waitFor('review', approval({ need: 2, of: VOTERS, rejections: 2 }))
    await scene.calls.step('five')
  }),
  kind('linked', { then: { kind: 'act', act: callBack } }, async (scene) => {
    const reply = await scene.context.waitpoint('reply')
    await scene.calls.handOut('invite', reply.token({ for: 'ann' }))
    await pause(scene)
    await scene.calls.waitFor('answer', reply)
    await scene.calls.step('after')
  }),
  kind(
    'patient',
    { then: { kind: 'act', act: (handle, stage) => sendLate(handle, stage, PATIENCE_MS) } },
    async (scene) => {
      await scene.calls.waitFor('go', signal('go', { timeout: PATIENCE_MS }))
      await scene.calls.step('after')
    },
  ),
  kind('forsaken', { outcomes: ['failed'] }, async (scene) => {
    await scene.calls.waitFor('never', approval({ timeout: 1_200, onTimeout: 'fail' }))
  }),
  kind('urged', { then: { kind: 'act', act: resumeIt } }, async (scene) => {
    await scene.calls.waitFor('never', signal('never', { remind: 2_000 }))
    await scene.calls.step('after')
  }),
  kind('undoing', { settings: { retry: soon }, outcomes: ['failed'] }, async (scene) => {
    for (const name of ['one', 'two', 'three']) {
      await scene.calls.step(name)
      await scene.calls.compensate(`undo ${name}`)
    }
    await pause(scene)
    if (scene.context.failureCount === 0) throw new Error('It fails once, and nothing is undone.')
    throw new PermanentError('It can never succeed.')
  }),
  kind('wavering', { outcomes: ['completed', 'failed'] }, async (scene) => {
    await scene.calls.step('begin')
    await scene.calls.compensate('undo begin', failBefore(2), { retry: soon })
    await scene.calls.compensate('undo more')
    if (scene.runtime.random() < 0.6) throw new PermanentError('It fails in some runs.')
  }),
  kind('refunded', { then: { kind: 'act', act: callOff }, outcomes: ['cancelled'] }, async (scene) => {
    await scene.calls.compensate('apologise', failBefore(2), { retry: parking })
    await scene.calls.step('charge')
    await scene.calls.compensate('refund', failBefore(2), { retry: soon })
    await scene.calls.waitFor('never', approval())
  }),
  kind('overdue', { settings: { timeout: { attempt: 900 } }, outcomes: ['expired'] }, async (scene) => {
    await scene.calls.step('begin')
    await scene.calls.compensate('undo begin')
    await scene.context.step('held', ({ signal }) => sleep(scene.runtime, 60_000, signal))
  }),
  kind('dismissed', { then: { kind: 'act', act: callOff }, outcomes: ['cancelled'] }, async (scene) => {
    await scene.calls.step('before')
    try {
      await scene.calls.waitFor('never', approval())
    } catch (error) {
      if (error instanceof ExecutionCancelledError) await scene.calls.step('undo')
      throw error
    }
  }),
]

/** Mostly no time at all, at times longer than a lease. */
async function pause(scene: Scene): Promise<void> {
  const chance = scene.runtime.random()
  await obey(scene, chance < 0.7 ? 5 : 3_000 * chance * chance)
}

function failBefore(attempt: number): (step: { readonly attempt: number }) => void {
  return (step) => {
    if (step.attempt < attempt) throw new Error(`It fails until its attempt ${attempt}.`)
  }
}
