/** The messages with which a commit wakes listeners in other processes: JSON, so that any version can tell what it reads. */
import type { ExecutionId } from '../../../kernel/index.ts'
import type { LogGrowth, Partition, Wake } from '../../store.ts'

const MESSAGE_VERSION = 1

/** What every message of a sender begins with. A message that begins so need not be parsed to be known as one's own. */
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

/** Returns undefined for a message of another version, or for none at all: then anything may have changed. */
export function readWakeMessage(partition: Partition, message: Buffer): Wake | undefined {
  const said = parse(message)
  if (said?.['v'] !== MESSAGE_VERSION) return undefined
  if ('first' in said) {
    const growth = growthOf(said)
    return growth === undefined ? undefined : { partition, ready: [], hasEvents: true, holdersOf: [], growth }
  }
  const { ready, dueAt, holdersOf } = said
  if (!isTextList(ready) || !isTextList(holdersOf)) return undefined
  if (dueAt !== undefined && typeof dueAt !== 'number') return undefined
  return { partition, ready, dueAt, hasEvents: false, holdersOf: holdersOf as ExecutionId[] }
}

function parse(message: Buffer): Record<string, unknown> | undefined {
  try {
    const said: unknown = JSON.parse(message.toString())
    return typeof said === 'object' && said !== null ? (said as Record<string, unknown>) : undefined
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
