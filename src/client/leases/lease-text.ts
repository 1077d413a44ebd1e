/** A lease as a text: what a worker that does not connect to the store sends with everything that it reports. */
import type { Fence } from '../../kernel/index.ts'
import { invalidInput } from '../checks/names.ts'

const FORM = /^l1\.([0-9a-f-]{36})\.(\d{1,15})\.(\d{1,15})(?:\.(?=[bp])(b?)(pl?)?)?$/

/** The permits that its execution has: of its own limits, and of the limit of its lane. */
export type LeasePermits = 'none' | 'own' | 'own_and_lane'

const LETTERS = { none: '', own: 'p', own_and_lane: 'pl' } as const satisfies Record<LeasePermits, string>

/** What the text of a lease notes about its execution, so that reports of others read nothing. */
export interface LeaseNotes {
  readonly permits: LeasePermits
  /** Whether it spends budgets. */
  readonly spends: boolean
}

export function leaseText({ leaseId, epoch, attempt }: Fence, { permits, spends }: LeaseNotes): string {
  const notes = `${spends ? 'b' : ''}${LETTERS[permits]}`
  return `l1.${leaseId}.${epoch}.${attempt}${notes === '' ? '' : `.${notes}`}`
}

export function parseLease(text: unknown): Fence {
  const [, leaseId, epoch, attempt] = match(text)
  if (leaseId === undefined)
    throw invalidInput('lease', 'lease must be the one that the claim of the execution has returned.')
  return { leaseId, epoch: Number(epoch), attempt: Number(attempt) }
}

export function permitsOf(text: unknown): LeasePermits {
  const letters = match(text)[5]
  return letters === undefined ? 'none' : letters === 'pl' ? 'own_and_lane' : 'own'
}

export function spendsBudgets(text: unknown): boolean {
  return match(text)[4] === 'b'
}

function match(text: unknown): readonly (string | undefined)[] {
  return (typeof text === 'string' ? FORM.exec(text) : null) ?? []
}
