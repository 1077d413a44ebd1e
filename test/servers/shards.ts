/** The shards in the file in which a member of a cluster keeps what it knows of the others. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

const SHARD = /shard-id=([0-9a-f]+)/

/**
 * Gives each replica the shard of its primary. Members exchange shards some time after they joined, and Valkey 8.0 refuses to start with the
 * file of a member that was killed before. Later versions align the shards themselves. No-op without a file.
 */
export async function alignShards(folder: string): Promise<void> {
  const file = path.join(folder, 'nodes.conf')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return
  const members = text.split('\n').map((line) => ({ line, parts: line.split(' ') }))
  const shards = new Map(members.map(({ parts: [id, address = ''] }) => [id, SHARD.exec(address)?.[1]]))
  const aligned = members.map(({ line, parts: [, , flags = '', primaryId] }) => {
    const shard = flags.includes('slave') ? shards.get(primaryId) : undefined
    return shard === undefined ? line : line.replace(SHARD, `shard-id=${shard}`)
  })
  await writeFile(file, aligned.join('\n'))
}
