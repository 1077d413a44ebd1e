/** Work that starts other work: one kind for each way in which a parent can wait for its children. */
import { ExecutionCancelledError, PermanentError, signal } from '../../src/client/index.ts'
import type { Outcome } from '../../src/kernel/index.ts'
import { callOff } from './journal-plan.ts'
import { brief, kind, obey } from './kind.ts'
import type { Kind } from './kind.ts'

const ANY_END: readonly Outcome[] = ['completed', 'failed', 'cancelled']

const leaf = kind('leaf', { outcomes: ANY_END })
const sour = kind('sour', { outcomes: ['failed', 'cancelled'] }, async (scene) => {
  await brief(scene)
  throw new PermanentError('It can never succeed.')
})
/** Ends only if it is cancelled. */
const lingering = kind('lingering', { outcomes: ['cancelled'] }, async ({ context }) => {
  await context.waitFor(signal('never'))
})
/** A child with a child. */
const middle = kind('middle', { outcomes: ANY_END }, async (scene) => {
  await scene.calls.call('inner', leaf.task)
})

/** Only parents start them. */
export const childKinds: readonly Kind[] = [leaf, sour, lingering, middle]

export const parentKinds: readonly Kind[] = [
  kind('calling', { then: { kind: 'wait' } }, async (scene) => {
    await scene.calls.step('before')
    await scene.calls.call('child', leaf.task)
    await scene.calls.step('between')
    await scene.calls.call('deep', middle.task)
    await scene.calls.step('after')
  }),
  kind('spreading', {}, async (scene) => {
    const first = await scene.calls.spawn('first', leaf.task)
    await scene.calls.step('between')
    const others = [scene.calls.spawn('second', leaf.task), scene.calls.spawn('third', leaf.task)]
    await scene.calls.all('all', [first, ...others])
    await obey(scene, 50)
    await scene.calls.step('after')
  }),
  kind('coping', {}, async (scene) => {
    const children = [scene.calls.spawn('good', leaf.task), scene.calls.spawn('bad', sour.task)]
    await scene.calls.settled('both', children)
    await scene.calls.call('worse', sour.task).catch(() => undefined)
    await scene.calls.step('after')
  }),
  kind('racing', {}, async (scene) => {
    const children = [lingering, leaf, sour].map(({ name, task }) => scene.calls.spawn(name, task))
    await scene.calls.any('first', children)
    await scene.calls.step('after')
  }),
  kind('deserted', { then: { kind: 'act', act: callOff }, outcomes: ['cancelled'] }, async (scene) => {
    await scene.calls.call('booked', leaf.task)
    try {
      await scene.calls.call('endless', lingering.task)
    } catch (error) {
      if (error instanceof ExecutionCancelledError) await scene.calls.call('undo', leaf.task)
      throw error
    }
  }),
]
