/** The keys of layout 3, and what becomes of each. Every kind of key got the number of the layout into its name. */
import type { Redis } from 'ioredis'
import type { RecordType } from '../../../kernel/index.ts'
import type { Connection } from '../connection/connection.ts'
import { keyKinds } from '../layout/keys.ts'

export type OldKind = RecordType | 'index' | 'blob' | 'events' | 'trimmed'

export interface OldKey {
  readonly kind: OldKind
  readonly oldKey: string
  readonly newKey: string
}

const EVENTS = 'events'
const TRIMMED = 'trimmed'

/** Layout 3 had the same letters without a number. */
const kinds = Object.entries(keyKinds).map(([kind, newHead]) => ({
  kind: kind as keyof typeof keyKinds,
  newHead,
  oldHead: newHead.replace('4:', ':'),
}))

/** How many keys a server looks at for one page of a scan. */
const SCAN_COUNT = 1_000

/** The keys of one page of a scan, by the partition that they belong to. */
export type OldPage = ReadonlyMap<string, readonly OldKey[]>

/**
 * Walks all keys of layout 3, page by page, on one server after the other. A key that is moved meanwhile may appear or not. On
 * a cluster that moves slots meanwhile a key may be missed, so a caller that needs all of them walks until it finds none.
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

/** `name` is what follows the prefix of the partition. Undefined for a key of another layout. */
function oldKeyOf(partition: string, name: string): OldKey | undefined {
  if (name === EVENTS || name === TRIMMED) {
    return { kind: name, oldKey: partition + name, newKey: `${partition}${name}4` }
  }
  const found = kinds.find(({ oldHead }) => name.startsWith(oldHead))
  if (found === undefined) return undefined
  const { kind, oldHead, newHead } = found
  return { kind, oldKey: partition + name, newKey: partition + newHead + name.slice(oldHead.length) }
}
