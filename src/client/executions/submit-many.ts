/** Submits many items, each with its own outcome. */
import { shape, unchecked } from '../../options/shape.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { ExecutionHandle } from './execution-handle.ts'
import { checkList, invalidInput } from '../checks/names.ts'
import type { SubmitOptions } from './submit.ts'

export type SubmitOutcome<Output> =
  | { readonly ok: true; readonly execution: ExecutionHandle<Output> }
  | { readonly ok: false; readonly error: EngineError }

export interface SubmitManyItem<Input> {
  readonly input: Input
  readonly options?: SubmitOptions
}

const manyItem = shape<SubmitManyItem<unknown>>()('{ input, options }', { input: unchecked(), options: unchecked() })
/** Items per `submitMany`. */
const SUBMIT_MANY_MAX = 10_000

/** Submits each item. Staged items are sent one after the other. */
export async function submitEach<Input, Output>(
  items: readonly SubmitManyItem<Input>[],
  submit: (item: SubmitManyItem<Input>) => Promise<ExecutionHandle<Output>>,
): Promise<SubmitOutcome<Output>[]> {
  checkList(items, 'items')
  if (items.length > SUBMIT_MANY_MAX) {
    throw invalidInput(
      'items',
      `items has ${items.length} entries, but at most ${SUBMIT_MANY_MAX} can be submitted at once.`,
    )
  }
  let staged: Promise<unknown> = Promise.resolve()
  const outcomes = items.map((item, i) => {
    const submitOne = () => outcomeOf(item, `items[${i}]`, submit)
    if (!isStaged(item)) return submitOne()
    const outcome = staged.then(submitOne)
    staged = outcome
    return outcome
  })
  return await Promise.all(outcomes)
}

async function outcomeOf<Input, Output>(
  item: SubmitManyItem<Input>,
  field: string,
  submit: (item: SubmitManyItem<Input>) => Promise<ExecutionHandle<Output>>,
): Promise<SubmitOutcome<Output>> {
  try {
    checkItem(item, field)
    return { ok: true, execution: await submit(item) }
  } catch (error) {
    if (error instanceof EngineError) return { ok: false, error }
    throw error
  }
}

/** Refuses a bare input, which would otherwise be read as an item without an input. */
function checkItem(item: object, field: string): void {
  manyItem(item, field)
  if (!('input' in item)) throw invalidInput(field, `${field} has no input.`)
}

/** Runs before the item is checked. */
function isStaged(item: SubmitManyItem<unknown> | null | undefined): boolean {
  return item?.options?.tx !== undefined
}
