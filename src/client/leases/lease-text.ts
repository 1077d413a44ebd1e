/** A lease as a text: what a worker that does not connect to the store sends with everything that it reports. */
import type { Fence } from '../../kernel/index.ts'
import { invalidInput } from '../checks/names.ts'

const FORM = /^l1\.([0-9a-f-]{36})\.(\d{1,15})\.(\d{1,15})$/

export function leaseText({ leaseId, epoch, attempt }: Fence): string {
  return `l1.${leaseId}.${epoch}.${attempt}`
}

export function parseLease(text: unknown): Fence {
  const match = typeof text === 'string' ? FORM.exec(text) : null
  const [, leaseId, epoch, attempt] = match ?? []
  if (leaseId === undefined)
    throw invalidInput('lease', 'lease must be the one that the claim of the execution has returned.')
  return { leaseId, epoch: Number(epoch), attempt: Number(attempt) }
}
