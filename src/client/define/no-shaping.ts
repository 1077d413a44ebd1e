/** Options that have no shaping: those of nodes and children. Apart from shaping itself, which browsers need not load. */
import type { Check } from '../../options/shape.ts'
import { invalidInput } from '../checks/names.ts'
import type { ShapingOptions } from './shaping.ts'

/** The checks of options that have no shaping: they refuse it with the reason. */
export const noShaping = {
  debounce: refuseShaping,
  throttle: refuseShaping,
  singleton: refuseShaping,
  order: refuseShaping,
} satisfies Readonly<Record<keyof ShapingOptions, Check>>

/** For the types of such options. */
export type NoShaping = { readonly [K in keyof ShapingOptions]?: never }

function refuseShaping(_: unknown, field: string): never {
  throw invalidInput(
    field,
    `${field} is for submits: a node or a child starts once, with its flow or parent, in whose partition it is.`,
  )
}
