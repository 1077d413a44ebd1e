/** Parts that many requests and answers share. */
import { z } from 'zod'
import type { Duration } from '../../client/index.ts'
import { FABRIC_PREFIX } from '../../client/index.ts'
import {
  IDENTITY_BYTES,
  KEY_BYTES,
  LIST_PAGE_MAX,
  NAME_BYTES,
  REASON_BYTES,
  TAG_COUNT_MAX,
} from '../../kernel/limits.ts'
import { invalidInput, show } from '../../options/invalid-input.ts'

export const instant = z.int().describe('Milliseconds since the epoch, by the clock of the store.')

/** The client parses durations itself. */
export const duration = z
  .union([z.number().min(0), z.string().regex(/^\d{1,15}(\.\d{1,3})?(ms|s|m|h|d)$/)])
  .describe("Milliseconds, or a text such as '30s', '5m' or '7d'.") as z.ZodType as z.ZodType<Duration, Duration>

/** The name of a task of the user. Those of FlowFabric do what a caller may not, such as to send what is signed. */
export const taskName = z
  .string()
  .min(1)
  .max(NAME_BYTES)
  .refine((name) => !name.startsWith(FABRIC_PREFIX), `names that begin with ${FABRIC_PREFIX} belong to FlowFabric`)

export const key = z.string().min(1).max(KEY_BYTES)
export const reason = z.string().max(REASON_BYTES)
export const by = z
  .string()
  .min(1)
  .max(IDENTITY_BYTES)
  .optional()
  .describe('Who asks for it. The name of the credentials unless given; another name needs the role operator.')

/** Who asks for a change and why, of routes whose operations record neither: the audit trail has both. */
export const trail = { reason: reason.optional().describe('Why: it is in the audit trail.'), by }
export const trailOnly = z.strictObject(trail).optional()

export const tags = z.record(z.string(), z.string())
export const tagChanges = z
  .record(z.string().max(64), z.string().nullable())
  .refine((changes) => Object.keys(changes).length <= 2 * TAG_COUNT_MAX, 'too many tags')
  .describe('Tags to set. A tag that is null is removed.')

/** A JSON value of the user. */
export const anyJson = z.unknown().describe('Any JSON.')

export const base64 = z.base64().describe('Bytes that are no JSON, in base64.')

/** Where an execution or a flow of a schedule comes from. */
export const scheduleOrigin = z.object({
  name: z.string().describe('The schedule.'),
  at: instant.describe('The boundary.'),
  cause: z.enum(['boundary', 'trigger', 'backfill']),
})

export const pageQuery = {
  limit: z.int().min(1).max(LIST_PAGE_MAX).optional().describe('Items of a page at most; 50 unless given.'),
  cursor: z.string().max(2_048).optional().describe('The cursor of the page before.'),
}

export const tagQuery = z.string().max(512).optional().describe("A tag and its value, such as 'plan:pro'.")

export function page<S extends z.ZodType>(items: S) {
  return z.object({
    items: z.array(items),
    cursor: z.string().optional().describe('Where the next page starts. A short page may have one too.'),
  })
}

export function parseTagQuery(text: string | undefined): { readonly name: string; readonly value: string } | undefined {
  if (text === undefined) return undefined
  const colon = text.indexOf(':')
  if (colon > 0) return { name: text.slice(0, colon), value: text.slice(colon + 1) }
  throw invalidInput('tag', `tag is ${show(text)}, but must be a name and a value such as 'plan:pro'.`)
}

/** Null removes a tag. */
export function tagChangesOf(
  changes: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? undefined]))
}
