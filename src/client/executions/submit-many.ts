/** Submits many items, each with its own outcome. */
import { shape, unchecked } from '../../options/shape.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import type { ExecutionHandle } from './execution-handle.ts'
import { checkList, invalidInput } from '../checks/names.ts'
import type { SubmitOptions } from './submit.ts'

export type SubmitOutcome<Output> =
  | { readonly ok: true; readonly execution: ExecutionHandle<Output> }
  | { readonly ok: false; readonly error: EngineError }

/** An input that may be undefined may be left out. */
export type SubmitManyItem<Input> = (undefined extends Input
  ? { readonly input?: Input }
  : { readonly input: Input }) & { readonly options?: SubmitOptions }

interface AnyItem {
  readonly input?: unknown
  readonly options?: SubmitOptions
}

const manyItem = shape<AnyItem>()('{ input, options }', { input: unchecked(), options: unchecked() })
/** Items per `submitMany`. */
const SUBMIT_MANY_MAX = 10_000

/** Submits each item. Staged items are sent one after the other. */
export async function submitEach<Output>(
  items: readonly AnyItem[],
  submit: (item: AnyItem) => Promise<ExecutionHandle<Output>>,
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

async function outcomeOf<Output>(
  item: AnyItem,
  field: string,
  submit: (item: AnyItem) => Promise<ExecutionHandle<Output>>,
): Promise<SubmitOutcome<Output>> {
  try {
    // A bare input is refused for its keys.
    manyItem(item, field)
    return { ok: true, execution: await submit(item) }
  } catch (error) {
    if (error instanceof EngineError) return { ok: false, error }
    throw error
  }
}

/** Runs before the item is checked. */
function isStaged(item: AnyItem | null | undefined): boolean {
  return item?.options?.tx !== undefined
}
