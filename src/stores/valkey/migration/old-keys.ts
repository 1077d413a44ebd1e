/** The keys of older layouts, and what becomes of each. */
import type { Redis } from 'ioredis'
import type { Connection } from '../connection/connection.ts'
import { EVENTS, TRIMMED, idParts, keyKinds, nameBytes } from '../layout/keys.ts'
import { oldRecordTypes } from './old-schema.ts'
import type { OldRecordType } from './old-schema.ts'
import { oldLayouts } from './old-layouts.ts'
import type { OldLayout } from './old-layouts.ts'

export type OldKind = OldRecordType | 'index' | 'blob' | 'events' | 'trimmed'

export interface OldKey {
  readonly layout: OldLayout
  readonly kind: OldKind
  /** What the key is named after: the id of a record, the name of an index, the key of a blob. */
  readonly name: string
  readonly oldKey: string
  readonly newKey: Buffer
}

/** What stands for a kind in the keys of a layout, without the number of the layout. */
const letters = new Map<string, OldRecordType | 'index' | 'blob'>()
for (const kind of [...oldRecordTypes, 'index', 'blob'] as const) letters.set(keyKinds[kind].charAt(0), kind)

/** How many keys a server looks at for one page of a scan. */
const SCAN_COUNT = 1_000

/** The keys of one page of a scan, by the partition that they belong to. */
export type OldPage = ReadonlyMap<string, readonly OldKey[]>

/**
 * Walks all keys of older layouts, page by page, on one server after the other. A key that is moved meanwhile may appear or
 * not. On a cluster that moves slots meanwhile a key may be missed, so a caller that needs all of them walks until it finds none.
 */
export async function* walkOldKeys(connection: Connection, prefix: string): AsyncGenerator<OldPage> {
  const head = `${prefix}:{`
  const pattern = `${head.replaceAll(/[*?[\]\\]/g, '\\$&')}fp:*`
  const servers: Redis[] = []
  await connection.onEachPrimary(async (server) => void servers.push(server))
  for (const server of servers) {
    let cursor = '0'
    do {
      const [next, names] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT)
      const page = pageOf(names, head)
      if (page.size > 0) yield page
      cursor = next
    } while (cursor !== '0')
  }
}

function pageOf(names: readonly string[], head: string): OldPage {
  const page = new Map<string, OldKey[]>()
  // A server may name a key twice.
  for (const name of new Set(names)) {
    const end = name.indexOf('}:', head.length) + '}:'.length
    const partition = name.slice(0, end)
    const key = oldKeyOf(partition, name.slice(end))
    if (key === undefined) continue
    const keys = page.get(partition)
    if (keys === undefined) page.set(partition, [key])
    else keys.push(key)
  }
  return page
}

/** `text` is what follows the prefix of the partition. Undefined for a key of the present layout. */
function oldKeyOf(partition: string, text: string): OldKey | undefined {
  const oldKey = partition + text
  for (const layout of oldLayouts) {
    for (const kind of ['events', 'trimmed'] as const) {
      if (text === kind + layout.mark) return logKey(layout, kind, partition)
    }
    const kind = letters.get(text.charAt(0))
    const head = `${text.charAt(0)}${layout.mark}:`
    if (kind === undefined || !text.startsWith(head)) continue
    const name = text.slice(head.length)
    const newKey = Buffer.concat([Buffer.from(partition + keyKinds[kind]), nameBytes(name, idParts[kind])])
    return { layout, kind, name, oldKey, newKey }
  }
  return undefined
}

/** The log of events of a partition in an older layout, or the count of its trimmed events. */
export function logKey(layout: OldLayout, kind: 'events' | 'trimmed', partition: string): OldKey {
  const newKey = Buffer.from(partition + (kind === 'events' ? EVENTS : TRIMMED))
  return { layout, kind, name: partition, oldKey: partition + kind + layout.mark, newKey }
}
