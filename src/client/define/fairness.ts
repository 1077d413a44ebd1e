/** Divides a lane between keys: whose share an execution uses is a function of its input, evaluated when it is submitted. */
import { required, shape } from '../../options/shape.ts'
import { FAIRNESS_WEIGHT_MAX, FAIRNESS_WEIGHT_MIN } from '../../kernel/limits.ts'
import type { Fairness } from '../../kernel/model/records.ts'
import { checkKey, invalidInput, show, wrongValue } from '../checks/names.ts'

/** The key whose share of the lane an execution uses, and the weight of that share: 1 unless given. */
export type FairShare = string | { readonly key: string; readonly weight?: number }

export type FairnessOf = (input: unknown) => FairShare

const fairShare = /* @__PURE__ */ shape<Exclude<FairShare, string>>()("{ key: 'acme', weight: 2 }, or be a key", {
  key: required(checkKey),
  weight: checkWeight,
})

export function checkFairness(value: unknown, field: string): FairnessOf {
  if (typeof value === 'function') return value as FairnessOf
  throw wrongValue(field, value, 'a function such as (input) => input.tenant')
}

/** Returns how the execution of an input takes part in the fair order of its lane. */
export function fairnessOf(fairness: FairnessOf | undefined, input: unknown): Fairness | undefined {
  if (fairness === undefined) return undefined
  const returned = fairness(input)
  if (typeof returned === 'string') return { key: checkKey(returned, 'fairness'), weight: 1 }
  const { key, weight = 1 } = fairShare(returned, 'fairness')
  return { key, weight }
}

function checkWeight(value: unknown, field: string): number {
  if (typeof value === 'number' && value >= FAIRNESS_WEIGHT_MIN && value <= FAIRNESS_WEIGHT_MAX) return value
  throw invalidInput(
    field,
    `${field} is ${show(value)}, but must be a number from ${FAIRNESS_WEIGHT_MIN} to ${FAIRNESS_WEIGHT_MAX}.`,
  )
}
