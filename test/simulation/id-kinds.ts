/** Work that is submitted again under its id: to run once more after the present run, or while the id is taken. */
import { PermanentError } from '../../src/client/index.ts'
import { SHORT_RETENTION_MS, brief, kind, obey } from './kind.ts'
import type { Kind, Scene } from './kind.ts'

/** How long an id stays taken after its end: longer than the execution is kept. */
const DEDUPE_MS = 11_000
/** Long enough that others are submitted while it runs. */
const RUN_MS = 300

export const idKinds: readonly Kind[] = [
  kind('followed', { then: { kind: 'follow', count: 4, isCancelled: false } }, runOnce),
  kind(
    'unfollowed',
    { then: { kind: 'follow', count: 3, isCancelled: true }, outcomes: ['completed', 'cancelled'] },
    runOnce,
  ),
  kind(
    'remembered',
    {
      settings: { retention: SHORT_RETENTION_MS },
      submit: () => ({ dedupe: DEDUPE_MS }),
      then: { kind: 'resubmit' },
    },
    brief,
  ),
]

/** What an earlier run has recorded is nothing that this one gets. */
async function runOnce(scene: Scene): Promise<void> {
  const { context, work } = scene
  const input = await context.step('input', () => work.name)
  if (input !== work.name) throw new PermanentError(`A step of ${work.name} was answered for ${input}.`)
  await obey(scene, RUN_MS)
}
