/**
 * The phase of a key: by which part of a step its turns lie behind the multiples of the step. Without phases, the turns of all keys
 * coincide, and in every partition a key is ahead of its share, or behind it, by the same fraction of a turn. The phases of one key in
 * 2^n consecutive partitions are evenly spaced, so these fractions cancel out over the partitions of a store.
 */
import type { ExecutionId } from '../model/records.ts'
import { fractionOf } from './seeded-random.ts'

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Returns a fraction in [0, 1) that depends on the key, and on the partition of an execution. */
export function turnPhase(key: string, executionId: ExecutionId): number {
  return (fractionOf(hashOf(key)) + mirrored(partitionNumberOf(executionId))) % 1
}

function hashOf(key: string): number {
  let hash = FNV_OFFSET
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), FNV_PRIME)
  return hash >>> 1
}

function partitionNumberOf(executionId: ExecutionId): number {
  return Number(executionId.slice(0, executionId.indexOf('-')))
}

/** Mirrors the binary digits of a number at the point: 1 is 0.1, 2 is 0.01, 3 is 0.11. */
function mirrored(number: number): number {
  let fraction = 0
  for (let rest = number, digit = 0.5; rest > 0; rest = Math.floor(rest / 2), digit = digit / 2) {
    fraction = fraction + (rest % 2) * digit
  }
  return fraction
}
