/** The work of a world: one kind for each way in which an execution's life can go. */
import { PermanentError, PostponeError, RetryAfterError } from '../../src/client/index.ts'
import type { ExecutionState } from '../../src/kernel/index.ts'
import { sleep } from '../../src/runtime/index.ts'
import { childKinds, parentKinds } from './child-kinds.ts'
import { deployKinds } from './deploy-kinds.ts'
import { idKinds } from './id-kinds.ts'
import { memberKinds } from './flow-kinds.ts'
import { journalKinds } from './journal-kinds.ts'
import { SHORT_RETENTION_MS, brief, kind, obey } from './kind.ts'
import type { Kind } from './kind.ts'
import { NEEDS, ROUTED } from './routing.ts'

const soon = { attempts: 4, backoff: { kind: 'fixed', delay: 300 }, jitter: false } as const
const later = { attempts: 3, backoff: { kind: 'exponential', initial: 200, max: 2_000 }, jitter: true } as const
export const kinds: readonly Kind[] = [
  kind('plain', { then: { kind: 'wait' } }),
  kind('quick', {}, async () => undefined),
  kind('delayed', { submit: (chance) => ({ delay: chance.between(1, 6_000) }) }),
  kind('flaky', { settings: { retry: soon } }, async (scene) => {
    await brief(scene)
    if (scene.context.failureCount < 2) throw new Error('It fails twice.')
  }),
  kind('spread', { settings: { retry: later }, outcomes: ['failed'] }, async (scene) => {
    await brief(scene)
    throw new Error('It always fails.')
  }),
  kind('hopeless', { settings: { retry: soon }, outcomes: ['failed'], then: { kind: 'wait' } }, async () => {
    throw new PermanentError('It can never succeed.')
  }),
  kind('asking', { settings: { retry: soon } }, async ({ context }) => {
    if (context.failureCount === 0) throw new RetryAfterError(700)
  }),
  kind('postponed', {}, async ({ context, runtime }) => {
    if (runtime.random() < 0.6) throw new PostponeError(400)
    context.signal.throwIfAborted()
  }),
  kind('long', { then: { kind: 'wait' } }, (scene) => obey(scene, 5_500)),
  kind('reporting', {}, async (scene) => {
    for (const percent of [25, 50, 75, 100]) {
      await scene.report(percent)
      await obey(scene, 150)
    }
  }),
  kind(
    'overrunning',
    { settings: { retry: soon, timeout: { attempt: 900 } }, outcomes: ['completed', 'expired'] },
    async (scene) => {
      if (scene.context.failureCount === 0) await obey(scene, 20_000)
    },
  ),
  kind(
    'deaf',
    { settings: { retry: soon, timeout: { attempt: 900 } }, outcomes: ['completed', 'expired'] },
    async ({ runtime, context }) => {
      if (context.failureCount === 0) await sleep(runtime, 4_000)
    },
  ),
  kind('late', {
    settings: { timeout: { total: 1_500 } },
    submit: () => ({ delay: '1m' }),
    outcomes: ['expired'],
  }),
  kind(
    'hurried',
    { settings: { retry: soon, timeout: { total: 2_500 } }, outcomes: ['completed', 'expired'] },
    (scene) => obey(scene, 1_200),
  ),
  kind('changed_mind', {
    submit: () => ({ delay: '20s' }),
    then: { kind: 'cancel', afterMs: 400, options: {} },
    outcomes: ['cancelled', 'completed'],
  }),
  kind(
    'interrupted',
    { then: { kind: 'cancel', afterMs: 600, options: {} }, outcomes: ['cancelled', 'completed'] },
    (scene) => obey(scene, 6_000),
  ),
  kind(
    'stubborn',
    { then: { kind: 'cancel', afterMs: 500, options: { grace: 1_500 } }, outcomes: ['cancelled', 'completed'] },
    ({ runtime }) => sleep(runtime, 4_000),
  ),
  kind(
    'forced',
    { then: { kind: 'cancel', afterMs: 500, options: { force: true } }, outcomes: ['cancelled', 'completed'] },
    (scene) => obey(scene, 3_000),
  ),
  kind('replayed', { then: { kind: 'replay' }, outcomes: ['completed', 'failed'] }, async ({ context }) => {
    if (context.attempt === 1) throw new PermanentError('It fails the first time.')
  }),
  kind('again', { then: { kind: 'replay' } }),
  kind('prioritised', {
    submit: (chance) => ({ priority: chance.between(0, 9_000) }),
    then: { kind: 'change_priority' },
  }),
  kind('tagged', {
    submit: (chance) => ({ tags: { team: chance.pick(['red', 'blue']), room: 'a' } }),
    then: { kind: 'set_tags' },
  }),
  kind('joined', { then: { kind: 'share', ifExists: 'join' } }),
  kind('replaced', { submit: () => ({ delay: 2_500 }), then: { kind: 'share', ifExists: 'replace' } }),
  kind('rejected', { then: { kind: 'share', ifExists: 'reject' } }),
  kind('fleeting', { settings: { retention: SHORT_RETENTION_MS } }),
  kind('revoked', { then: { kind: 'revoke' } }, (scene) => obey(scene, 1_500)),
  kind('abandoned', {
    settings: { lane: 'nowhere', timeout: { total: 3_000 } },
    isUnserved: true,
    outcomes: ['expired'],
  }),
  kind('unserved', { settings: { lane: 'nowhere' }, isUnserved: true, outcomes: [] }),
  ...journalKinds,
  ...parentKinds,
  ...idKinds,
  ...deployKinds,
]

/** More at once than fits one batch. Only some worlds have it: it makes everything else slow. */
export const crowd = kind('crowd', { then: { kind: 'crowd', count: 70 } }, async () => undefined)

/** Only some worlds have it: workers with capabilities also list the queues of the store. */
export const routed = kind(ROUTED, { submit: (chance) => ({ needs: chance.pick(NEEDS) }) })

/** Work with a handler, or in a lane without one. */
export const allKinds: readonly Kind[] = [...kinds, crowd, ...memberKinds, ...childKinds, routed]

export function kindNamed(name: string): Kind {
  const found = allKinds.find((one) => one.name === name)
  if (found === undefined) throw new Error(`There is no kind of work called ${name}.`)
  return found
}

/** No worker serves it and no timer runs for it: it may stay where it is. */
export function isAllowedToWait(state: ExecutionState, task: string): boolean {
  const { isUnserved, outcomes } = kindNamed(task)
  return isUnserved && outcomes.length === 0 && state.phase === 'eligible'
}
