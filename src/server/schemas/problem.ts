import { z } from 'zod'
import { errorCatalogue } from '../../kernel/errors.ts'
import type { ErrorCode } from '../../kernel/errors.ts'

const codes = Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]

export const problem = z
  .object({
    type: z.string().describe('urn:flowfabric:error: and the code.'),
    title: z.string().describe('The text of the code.'),
    status: z.int(),
    code: z.enum(codes).describe('A stable code of the error catalogue.'),
    retryable: z.boolean().describe('Whether the same request can succeed later without any other change.'),
    detail: z.string().describe('What exactly is wrong.'),
    advice: z.string().describe('What to do.'),
    requestId: z.string().describe('Names the request in the log of the server.'),
    field: z.string().optional().describe('The part of the request at fault.'),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    context: z.looseObject({}).optional().describe('The state that led to a refusal, such as executionId and state.'),
  })
  .meta({ id: 'Problem', description: 'An error, after RFC 9457.' })

export type Problem = Frozen<z.input<typeof problem>>

/** A type with all of its parts read-only, so that data of the client fits it. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T
