/** Arithmetic with amounts: lists by dimension, in the order of the names. All results are whole numbers. */
import { BUDGET_SUM_MAX } from '../limits.ts'
import type { Amount, Amounts } from '../model/budget-schema.ts'

export function valueIn(amounts: Amounts, dimension: string): number {
  for (const amount of amounts) if (amount.dimension === dimension) return amount.value
  return 0
}

export function has(amounts: Amounts, dimension: string): boolean {
  for (const amount of amounts) if (amount.dimension === dimension) return true
  return false
}

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => x + y)
}

/** Subtracts, and never goes below zero. */
export function subtractAmounts(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => Math.max(0, x - y))
}

export function equalAmounts(a: Amounts, b: Amounts): boolean {
  for (const { dimension, value } of a) if (valueIn(b, dimension) !== value) return false
  for (const { dimension, value } of b) if (valueIn(a, dimension) !== value) return false
  return true
}

/** Whether a sum can be stored exactly. */
export function isExact(amounts: Amounts): boolean {
  for (const { value } of amounts) if (value > BUDGET_SUM_MAX) return false
  return true
}

/** Merges two ordered lists. Dimensions whose result is zero are left out. */
function combine(a: Amounts, b: Amounts, of: (x: number, y: number) => number): Amounts {
  const combined: Amount[] = []
  let i = 0
  let j = 0
  for (;;) {
    const left = a[i]
    const right = b[j]
    const dimension = firstOf(left?.dimension, right?.dimension)
    if (dimension === undefined) return combined
    const x = left?.dimension === dimension ? left.value : 0
    const y = right?.dimension === dimension ? right.value : 0
    if (left?.dimension === dimension) i = i + 1
    if (right?.dimension === dimension) j = j + 1
    const value = of(x, y)
    if (value !== 0) combined.push({ dimension, value })
  }
}

function firstOf(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined) return right
  return right !== undefined && right < left ? right : left
}
