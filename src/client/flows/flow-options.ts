/** Options of the calls that concern flows, and their checks. */
import { everyOf, optionKeys } from '../checks/exhaustive.ts'
import type { FlowCancelPolicy } from '../../kernel/index.ts'
import { CANCEL_KEYS } from '../executions/cancel-options.ts'
import type { CancelOptions } from '../executions/cancel-options.ts'
import type { FlowProgress } from './flow-submission.ts'
import { FLOW_SETTING_KEYS } from '../define/flow.ts'
import type { FlowSettings } from '../define/flow.ts'
import { checkObject, invalidInput, show } from '../checks/names.ts'

export interface FlowSubmitOptions extends FlowSettings {
  /** Your own id. Idempotent: submitting the same graph twice with one id starts one flow. */
  readonly id?: string
  /** Called with the progress of a large flow's submit. */
  readonly onProgress?: (progress: FlowProgress) => void
}

export const FLOW_SUBMIT_KEYS = optionKeys<FlowSubmitOptions>()(['id', 'onProgress', ...FLOW_SETTING_KEYS])

export interface CreateFlowOptions extends FlowSettings {
  readonly id?: string
  /** True holds all members until the flow is sealed. */
  readonly hold?: boolean
}

export const CREATE_FLOW_KEYS = optionKeys<CreateFlowOptions>()(['id', 'hold', ...FLOW_SETTING_KEYS])

export interface FlowCancelOptions extends CancelOptions {
  /** `cancel_all` (the default): every member. `cancel_pending`: those that do not run. `flow_only`: none. */
  readonly policy?: FlowCancelPolicy
}

export const FLOW_CANCEL_KEYS = optionKeys<FlowCancelOptions>()(['policy', ...CANCEL_KEYS])

const CANCEL_POLICIES = everyOf<FlowCancelPolicy>()(['cancel_all', 'cancel_pending', 'flow_only'])

export function checkCancelPolicy(policy: FlowCancelPolicy): FlowCancelPolicy {
  if (CANCEL_POLICIES.includes(policy)) return policy
  throw invalidInput('policy', `policy is ${show(policy)}, but must be one of ${CANCEL_POLICIES.join(', ')}.`)
}

/** A flow's submit needs the store's replies, and a transaction has none before its commit. */
export function refuseTransaction(options: unknown): void {
  checkObject(options, 'options', "{ id: 'release:42' }")
  if (!('tx' in options) || options.tx === undefined) return
  throw invalidInput(
    'tx',
    'A flow cannot be staged in a transaction. Submit it after the commit and pass an id, so that a retry is safe; or stage a task whose handler submits the flow.',
  )
}
