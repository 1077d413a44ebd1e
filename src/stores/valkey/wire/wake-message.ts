/** The messages by which a commit wakes listeners in other processes. JSON with a version, so that every version can read them. */
import type { ExecutionId } from '../../../kernel/index.ts'
import type { LogGrowth, Partition, Wake } from '../../store.ts'

const MESSAGE_VERSION = 1

/** The prefix of all messages of a sender. A process recognises its own messages without parsing them. */
export function messageHead(sender: string): string {
  return `{"v":${MESSAGE_VERSION},"sender":${JSON.stringify(sender)}`
}

/** The items of a JSON list without its brackets. */
export function jsonItems(items: readonly string[]): string {
  return items.length === 0 ? '' : JSON.stringify(items).slice(1, -1)
}

/** Recognises the messages of one sender by their first bytes. */
export class OwnMessages {
  readonly #head: Buffer

  constructor(sender: string) {
    this.#head = Buffer.from(`${messageHead(sender)},`)
  }

  has(message: Buffer): boolean {
    const head = this.#head
    return message.length >= head.length && message.compare(head, 0, head.length, 0, head.length) === 0
  }
}

/** Returns undefined for an unknown message: then anything may have changed. */
export function readWakeMessage(partition: Partition, message: Buffer): Wake | undefined {
  const fields = parse(message)
  if (fields?.['v'] !== MESSAGE_VERSION) return undefined
  const grown = fields['grown']
  if (grown !== undefined && !isTextList(grown)) return undefined
  if ('first' in fields) {
    const growth = growthOf(fields)
    return growth === undefined ? undefined : { partition, ready: [], hasEvents: true, holdersOf: [], growth, grown }
  }
  if (grown !== undefined) return { partition, ready: [], hasEvents: false, holdersOf: [], grown }
  const { ready, dueAt, holdersOf } = fields
  if (!isTextList(ready) || !isTextList(holdersOf)) return undefined
  if (dueAt !== undefined && typeof dueAt !== 'number') return undefined
  return { partition, ready, dueAt, hasEvents: false, holdersOf: holdersOf as ExecutionId[] }
}

function parse(message: Buffer): Record<string, unknown> | undefined {
  try {
    const fields: unknown = JSON.parse(message.toString())
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function growthOf({ first, last, at, ended }: Record<string, unknown>): LogGrowth | undefined {
  if (typeof first !== 'number' || typeof last !== 'number' || typeof at !== 'number') return undefined
  return isTextList(ended) ? { first, last, at, ended } : undefined
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
