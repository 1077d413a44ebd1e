/** Rules of the kernel that are arithmetic or order, worked out over many values, for both languages to agree on. */
import {
  LARGEST_PRINTED_INTEGER,
  backoffMs,
  comesBefore,
  fractionOf,
  integerText,
  isTextBefore,
  mergeTags,
  nextSeed,
} from '../../../src/kernel/index.ts'
import type { Backoff, Tag } from '../../../src/kernel/index.ts'
import { canonicalText, numberText } from './canonical-text.ts'
import type { Platform } from './platform.ts'

const FRACTION_DIGITS = 1_000_000_000

const backoffs: readonly Backoff[] = [
  { kind: 'fixed', delayMs: 1_500 },
  { kind: 'exponential', initialMs: 1_000, maxMs: 60_000, factor: 2 },
  { kind: 'exponential', initialMs: 7, maxMs: 3_600_000, factor: 1.7 },
  { kind: 'exponential', initialMs: 1_000, maxMs: 1e15, factor: 1_000 },
]

/** Texts that a collation would order differently from their bytes. */
const texts: readonly string[] = ['', 'B', 'a', 'A', 'a b', 'a-b', 'ab', 'a\u001fb', 'Z', '_', '10', '9', '~']

export function rulesText(platform: Platform): string {
  const lines: string[] = []
  let seed = 1
  for (let i = 0; i < 200; i++) {
    seed = nextSeed(seed)
    lines.push(integerText(seed) + ' ' + integerText(Math.floor(fractionOf(seed) * FRACTION_DIGITS)))
  }
  for (const backoff of backoffs) {
    for (const failures of [1, 2, 3, 5, 8, 20, 1_000]) lines.push(numberText(backoffMs(backoff, failures)))
  }
  for (const value of [0, 1, 9_999, LARGEST_PRINTED_INTEGER, LARGEST_PRINTED_INTEGER + 1, -1]) {
    lines.push(integerText(value))
  }
  const tags: Tag[] = []
  for (const a of texts) {
    tags.push({ name: a, value: a, indexed: false })
    for (const b of texts) {
      lines.push(
        canonicalText(platform, [a, b, isTextBefore(a, b), comesBefore({ score: 1, id: a }, { score: 1, id: b })]),
      )
    }
  }
  lines.push(canonicalText(platform, mergeTags([], tags, ['B', '9'])))
  return lines.join('\n')
}
