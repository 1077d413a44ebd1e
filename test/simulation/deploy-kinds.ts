/** Work that a deploy changes: programs from before and after it serve other versions, or accept other inputs. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { task } from '../../src/client/index.ts'
import { brief, kind, obey } from './kind.ts'
import type { Kind, Work, WorkTask } from './kind.ts'

/** Refusals that end an execution. */
export const REFUSAL_LIMIT = 4

const EARLIER_VERSION = 1
const CURRENT_VERSION = 2
const earlierVersion = task<Work, string>('versioned', { version: EARLIER_VERSION })
const currentVersion = task<Work, string>('versioned', { version: CURRENT_VERSION })

export const deployKinds: readonly Kind[] = [
  kind('versioned', {
    task: currentVersion,
    earlier: earlierVersion,
    submitted: [earlierVersion, currentVersion],
  }),
  kind(
    'reshaped',
    { task: accepting('reshaped', [undefined, 'new']), earlier: accepting('reshaped', [undefined]), shape: 'new' },
    async (scene) => {
      await scene.calls.step('first')
      await brief(scene)
      await scene.calls.step('last')
    },
  ),
  kind(
    'misshapen',
    {
      task: accepting('misshapen', [undefined]),
      submitted: [task<Work, string>('misshapen')],
      shape: 'wrong',
      outcomes: ['failed'],
    },
    (scene) => obey(scene, 0),
  ),
]

/** A task whose inputs have one of these shapes. */
function accepting(name: string, shapes: readonly Work['shape'][]): WorkTask {
  const input = schemaOf<Work>((value) => shapes.includes((value as Work).shape))
  return task(name, { input, output: schemaOf<string>(() => true) })
}

function schemaOf<T>(accepts: (value: unknown) => boolean): StandardSchemaV1<T, T> {
  const validate = (value: unknown): StandardSchemaV1.Result<T> =>
    accepts(value) ? { value: value as T } : { issues: [{ message: 'It has another shape.' }] }
  return { '~standard': { version: 1, vendor: 'simulation', validate } }
}
