/** The content of a Valkey store as one line of JSON per key, with texts in base64. A key that is no text is so too, in a list. */
import { isUtf8 } from 'node:buffer'
import type { Redis } from 'ioredis'

/** Stands for the prefix of the store, which differs from one to the next. */
const PREFIX = '<prefix>'

type Line = readonly [key: string | readonly [base64: string], command: string, ...values: string[]]

export async function copyValkey(client: Redis, prefix: string): Promise<string> {
  const keys = (await client.keysBuffer(`${prefix}:*`)).toSorted((a, b) => Buffer.compare(a, b))
  const lines: Line[] = []
  for (const key of keys) {
    const name = Buffer.concat([Buffer.from(PREFIX), key.subarray(Buffer.byteLength(prefix))])
    lines.push([isUtf8(name) ? String(name) : [encode(name)], ...(await contentOf(client, key))])
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

async function contentOf(client: Redis, key: Buffer): Promise<[command: string, ...values: string[]]> {
  const type = await client.type(key)
  switch (type) {
    case 'string':
      return ['set', encode((await client.getBuffer(key))!)]
    case 'list':
      return ['rpush', ...(await client.lrangeBuffer(key, 0, -1)).map(encode)]
    case 'set':
      return ['sadd', ...(await client.smembersBuffer(key)).map(encode).toSorted()]
    case 'zset': {
      const members = await client.zrangeBuffer(key, '0', '-1', 'WITHSCORES')
      // A command takes the score first.
      return ['zadd', ...members.map((_, i) => encode(members[i % 2 === 0 ? i + 1 : i - 1]!))]
    }
    case 'hash': {
      const fields = await client.hgetallBuffer(key)
      return ['hset', ...Object.entries(fields).flatMap(([name, value]) => [encode(Buffer.from(name)), encode(value)])]
    }
    default:
      throw new Error(`The key ${key.toString()} has the type ${type}, which is not copied.`)
  }
}

function encode(value: Buffer): string {
  return value.toString('base64')
}

export async function restoreValkey(client: Redis, prefix: string, content: string): Promise<void> {
  for (const text of content.split('\n')) {
    if (text === '') continue
    const [key, command, ...values] = JSON.parse(text) as Line
    const name = typeof key === 'string' ? Buffer.from(key) : Buffer.from(key[0], 'base64')
    const newName = Buffer.concat([Buffer.from(prefix), name.subarray(PREFIX.length)])
    await client.call(command, newName, ...values.map((value) => Buffer.from(value, 'base64')))
  }
}
