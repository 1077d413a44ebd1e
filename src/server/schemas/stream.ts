/** What the routes of frames and summaries return. */
import { z } from 'zod'
import { logLevels } from '../../client/index.ts'
import { anyJson, base64, instant } from './common.ts'

const cursor = z.string().describe('Continues behind it.')

export const frameItem = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('frame'),
      name: z.string(),
      value: anyJson.optional(),
      valueBytes: base64.optional(),
      attempt: z.int(),
      sequence: z.int().describe('The number of a durable frame. A live frame has that of the durable one before it.'),
      isLive: z.boolean(),
      at: instant,
      cursor,
    }),
    z.object({ kind: z.literal('attempt'), attempt: z.int().describe('A new attempt has begun.'), cursor }),
    z.object({
      kind: z.literal('trimmed'),
      count: z.int().optional().describe('Durable frames that are not kept. Absent: those of an earlier run.'),
      cursor,
    }),
  ])
  .meta({ id: 'FrameItem' })

export const logItem = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('line'),
      level: z.enum(logLevels),
      message: z.string(),
      fields: z.record(z.string(), z.unknown()),
      step: z.string().optional().describe('The step that was running.'),
      attempt: z.int(),
      sequence: z.int().describe('The number of the line, from 1.'),
      at: instant,
      isCut: z.boolean().describe('Whether it was too long: its fields were left out, or its message was cut.'),
      cursor,
    }),
    z.object({
      kind: z.literal('trimmed'),
      count: z.int().optional().describe('Lines that are not kept. Absent: those of an earlier run.'),
      cursor,
    }),
  ])
  .meta({ id: 'LogItem' })

export const summary = z
  .object({
    document: z.record(z.string(), z.unknown()).describe('The JSON object that the handler keeps.'),
    version: z.int().describe('Rises by one with every change.'),
    attempt: z.int(),
    at: instant,
  })
  .meta({ id: 'Summary' })
