/** Options of the calls that concern flows, and their checks. */
import { boolean, oneOf, shape, unchecked } from '../../options/shape.ts'
import type { FlowCancelPolicy, FlowIfExists } from '../../kernel/index.ts'
import { cancelOptions } from '../executions/cancel-options.ts'
import type { CancelOptions } from '../executions/cancel-options.ts'
import { parseDuration } from '../define/duration.ts'
import type { Duration } from '../define/duration.ts'
import type { FlowProgress } from './flow-submission.ts'
import { flowSettings } from '../define/flow.ts'
import type { FlowSettings } from '../define/flow.ts'
import { checkKey, checkObject, invalidInput } from '../checks/names.ts'

export interface FlowSubmitOptions extends FlowSettings {
  /** Your own id. Idempotent: submitting the same graph twice with one id starts one flow. */
  readonly id?: string
  /**
   * What to do if the id exists, whatever the graph: `join` returns the existing flow, `reject` refuses, `replace` removes a
   * flow that has ended and starts a new one, `after` runs this graph once more when the present run has ended. If absent, the
   * same graph joins, and another one is refused with `input_differs`.
   */
  readonly ifExists?: FlowIfExists
  /**
   * How long after its end the id stays taken, at least the retention, which is the default. After the retention only the
   * id is kept, not the results.
   */
  readonly dedupe?: Duration
  /** Called with the progress of a large flow's submit. */
  readonly onProgress?: (progress: FlowProgress) => void
}

export const flowSubmitOptions = shape<FlowSubmitOptions>()("{ id: 'release:42' }", {
  ...flowSettings.checks,
  id: checkKey,
  ifExists: oneOf<FlowIfExists>({ join: true, reject: true, replace: true, after: true }),
  dedupe: parseDuration,
  onProgress: unchecked<NonNullable<FlowSubmitOptions['onProgress']>>(),
})

export interface CreateFlowOptions extends FlowSettings {
  readonly id?: string
  /** True holds all members until the flow is sealed. */
  readonly hold?: boolean
}

export const createFlowOptions = shape<CreateFlowOptions>()("{ id: 'import:7', hold: true }", {
  ...flowSettings.checks,
  id: checkKey,
  hold: boolean,
})

export interface FlowCancelOptions extends CancelOptions {
  /** `cancel_all` (the default): every member. `cancel_pending`: those that do not run. `flow_only`: none. */
  readonly policy?: FlowCancelPolicy
}

export const flowCancelOptions = shape<FlowCancelOptions>()("{ policy: 'cancel_pending' }", {
  ...cancelOptions.checks,
  policy: oneOf<FlowCancelPolicy>({ cancel_all: true, cancel_pending: true, flow_only: true }),
})

/** A flow's submit needs the store's replies, and a transaction has none before its commit. */
export function refuseTransaction(options: unknown): void {
  checkObject(options, 'options', "{ id: 'release:42' }")
  if (!('tx' in options) || options.tx === undefined) return
  throw invalidInput(
    'tx',
    'A flow cannot be staged in a transaction. Submit it after the commit and pass an id, so that a retry is safe; or stage a task whose handler submits the flow.',
  )
}
