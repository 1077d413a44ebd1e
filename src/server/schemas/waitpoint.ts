/** What the routes of waitpoints and signals take and return. */
import { z } from 'zod'
import { NAME_BYTES, SIGNAL_KEY_BYTES } from '../../kernel/limits.ts'
import { TOKEN_MAX_LENGTH } from '../../client/index.ts'
import { anyJson, base64, instant } from './common.ts'

export const waitpoint = z
  .object({
    executionId: z.string(),
    task: z.string(),
    key: z.string(),
    state: z.enum(['pending', 'awaited', 'mailbox', 'closed']),
    openedAt: instant,
    expiresAt: instant.optional(),
    step: z.string().optional().describe('The wait at it.'),
    names: z.array(z.string()).describe('The names of signals that the wait counts. None: any.'),
    from: z.array(z.string()).describe('The senders whose signals the wait counts. None: anyone.'),
    signalCount: z.int(),
    bufferedCount: z.int(),
    lastSignalAt: instant.optional(),
    closedAt: instant.optional(),
    closeReason: z.string().optional(),
  })
  .meta({ id: 'Waitpoint' })

export const receipt = z
  .object({
    kind: z.enum(['delivered', 'duplicate']),
    sequence: z.int().describe('The number of the signal in its execution.'),
    effect: z.enum(['resumed', 'counted', 'counted_before', 'not_awaited', 'buffered']),
    at: instant,
  })
  .meta({ id: 'SignalReceipt' })

export const signalName = z.string().min(1).max(NAME_BYTES)
export const signalKey = z.string().min(1).max(SIGNAL_KEY_BYTES)

/** The value of a signal. */
export const signalValue = { value: anyJson.optional(), valueBytes: base64.optional() }

export const token = z.string().min(1).max(TOKEN_MAX_LENGTH)
