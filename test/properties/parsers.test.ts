/**
 * Every parser of what comes from outside, fed with random texts and with valid ones that were damaged: it returns a value or
 * an error of the catalogue, and never fails in another way. FLOWFABRIC_FUZZ_SECONDS sets how long each is tried.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { Client } from '../../src/client/client.ts'
import { parseDuration } from '../../src/client/define/duration.ts'
import { task } from '../../src/client/define/task.ts'
import { decodeCursor, encodeCursor } from '../../src/client/events/event-cursor.ts'
import { decodeFrameCursor, encodeFrameCursor } from '../../src/client/streams/frame-cursor.ts'
import { KeyRing, mintKey, revealRing } from '../../src/client/tokens/key-ring.ts'
import { Tokens } from '../../src/client/tokens/token.ts'
import { parseExecutionId, parseFlowId } from '../../src/client/transport/ids.ts'
import { record } from '../../src/kernel/model/any-record.fixture.ts'
import { EngineError } from '../../src/kernel/engine-error.ts'
import { hashOf, readTokenFile } from '../../src/server/auth/token-file.ts'
import { silentLog, virtualRuntime } from '../../src/runtime/index.ts'
import { parseLocation } from '../../src/stores/open/location.ts'
import { openStore } from '../../src/stores/open/open-store.ts'
import { readRecordText, recordText } from '../../src/stores/sql/record-text.ts'
import { storedForm } from '../../src/stores/valkey/layout/stored-form.ts'
import { readRecordValue, recordValue } from '../../src/stores/valkey/layout/stored-value.ts'

const SECONDS_DEFAULT = 1
const SHRINK_MS = 10_000
const budgetMs = Number(process.env['FLOWFABRIC_FUZZ_SECONDS'] ?? SECONDS_DEFAULT) * 1_000

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.string({ unit: 'grapheme' }))

/** A text with some of its characters replaced, removed, doubled or added. */
function damaged(valid: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edit = fc.record({ at: fc.nat(), drop: fc.nat({ max: 3 }), add: fc.oneof(fc.constant(''), anyText) })
  return fc.tuple(valid, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([text, edits]) =>
    edits.reduce((current, { at, drop, add }) => {
      const place = at % (current.length + 1)
      return current.slice(0, place) + add + current.slice(place + drop)
    }, text),
  )
}

/** Tries values until the time is over. The seed of a failure repeats it, by FLOWFABRIC_TEST_SEED. */
async function fuzz<T>(values: fc.Arbitrary<T>, parse: (value: T) => unknown): Promise<void> {
  const seed = process.env['FLOWFABRIC_TEST_SEED']
  const endAt = performance.now() + budgetMs
  const property = fc.asyncProperty(values, async (value) => {
    if (performance.now() < endAt + SHRINK_MS) await onlyKnownErrors(() => parse(value))
  })
  await fc.assert(property, {
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: budgetMs,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  })
}

async function onlyKnownErrors(parse: () => unknown): Promise<void> {
  try {
    await parse()
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
  }
}

const ring = KeyRing.begin(0).rotate(mintKey(1), 1_000, 1)
const tokens = new Tokens(ring, virtualRuntime(), silentLog)
const claims = { executionId: '0-a', waitpointId: '0-a review', target: 'review', generation: 1, openedAt: 1 }
const issued = fc
  .record({ sub: fc.option(anyText, { nil: undefined }), nonce: fc.option(fc.uuid(), { nil: undefined }) })
  .map((optional) => tokens.issue({ ...claims, ...optional }))

test('tokens', async () => {
  await fuzz(fc.oneof(anyText, fc.anything(), damaged(issued)), (text) => tokens.verify(text))
})

test('a damaged token is never valid', async () => {
  await fuzz(fc.tuple(issued, damaged(issued)), ([valid, text]) => {
    const isGenuine = (() => {
      try {
        return tokens.verify(text).executionId === claims.executionId
      } catch {
        return false
      }
    })()
    if (isGenuine) expect(tokens.issue(tokens.verify(text))).toBe(text)
    expect(tokens.verify(valid).target).toBe('review')
  })
})

test('key rings', async () => {
  const document = fc.constant(JSON.stringify(revealRing(ring)))
  await fuzz(fc.oneof(fc.anything(), damaged(document)), (given) =>
    KeyRing.parse(typeof given === 'string' ? parseJson(given) : given),
  )
})

test('files of bearer tokens', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-fuzz-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'tokens')
  const token = { name: 'ada', role: 'operator', namespace: 'acme', sha256: hashOf('secret'), createdAt: 1 }
  const document = fc.constant(JSON.stringify({ version: 1, tokens: [token] }))
  await fuzz(fc.oneof(fc.json(), damaged(document)), (text) => {
    writeFileSync(file, text)
    for (const { name, sha256 } of readTokenFile(file).tokens) expect([name, sha256].join('')).not.toBe('')
  })
})

test('locations', async () => {
  const known = fc.constantFrom(
    'memory:',
    'sqlite:./a.db',
    'valkey://user:secret@localhost:6379/1?prefix=a',
    'valkey-cluster://10.0.0.1,10.0.0.2:7000?partitions=8',
    'postgres://user:secret@db/shop?schema=a&sslmode=require',
  )
  await fuzz(fc.oneof(anyText, damaged(known)), (text) => parseLocation(text))
})

test('ids', async () => {
  const id = fc.tuple(fc.constantFrom('', 'f'), fc.nat(), fc.uuid()).map(([kind, n, uuid]) => `${kind}${n}-${uuid}`)
  await fuzz(fc.oneof(anyText, id, damaged(id)), (text) => {
    try {
      parseExecutionId(text, 8)
    } finally {
      parseFlowId(text, 8)
    }
  })
})

test('cursors of subscriptions', async () => {
  const position = fc.record({
    sequence: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    mark: fc.option(fc.nat({ max: 2 ** 32 - 1 }), { nil: undefined }),
  })
  const cursor = fc.array(position, { minLength: 4, maxLength: 4 }).map(encodeCursor)
  await fuzz(fc.oneof(fc.anything(), cursor, damaged(cursor)), (text) => {
    for (const { sequence } of decodeCursor(text, 4)) expect(Number.isSafeInteger(sequence)).toBe(true)
  })
})

test('cursors of streams', async () => {
  const whole = fc.nat({ max: Number.MAX_SAFE_INTEGER })
  const cursor = fc
    .record({ createdAt: whole, life: whole, chunk: whole, sequence: whole, live: whole, attempt: whole })
    .map(encodeFrameCursor)
  await fuzz(fc.oneof(fc.anything(), cursor, damaged(cursor)), (text) => {
    for (const part of Object.values(decodeFrameCursor(text))) expect(Number.isSafeInteger(part)).toBe(true)
  })
})

test('cron expressions', async () => {
  const runtime = virtualRuntime()
  await using client = new Client(await openStore('memory:', { runtime }), runtime)
  const field = fc.oneof(
    fc.constantFrom('*', '*/5', '0', '1-5', '31', '2', 'MON', 'L', '5#2', 'LW', '15W', '?', '1,2', '+1', '@daily'),
    fc.integer({ min: -1, max: 70 }).map(String),
  )
  const cron = fc.array(field, { minLength: 4, maxLength: 7 }).map((fields) => fields.join(' '))
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Mars/Base', '', '+02:00')
  await fuzz(fc.tuple(fc.oneof(cron, damaged(cron), anyText), zone), async ([text, timeZone]) => {
    const handle = await client.schedule('fuzz', { task: task<undefined>('t'), cron: text, timeZone })
    const { next } = await handle.describe({ next: 3 })
    expect(next.every((firing, i) => i === 0 || firing.at > (next[i - 1]?.at ?? 0))).toBe(true)
  })
})

test('cursors of lists, on a store that compares them', async () => {
  const runtime = virtualRuntime()
  await using client = new Client(await openStore('sqlite::memory:', { runtime }), runtime)
  const base36 = fc.string({ unit: fc.constantFrom('0', '1', '9', 'a', 'f', 'z'), minLength: 1, maxLength: 30 })
  const cursor = fc
    .tuple(fc.constantFrom('l1', 'w1', 's1', 'k1'), base36, base36)
    .map(([kind, score, id]) => `${kind}.${score}.${id}`)
  await fuzz(fc.oneof(anyText, cursor, damaged(cursor)), async (text) => {
    await onlyKnownErrors(() => client.list({ cursor: text }))
    await onlyKnownErrors(() => client.flows({ cursor: text }))
    await onlyKnownErrors(() => client.waitpoints({ cursor: text }))
    await onlyKnownErrors(() => client.workers({ cursor: text }))
    await onlyKnownErrors(() => client.schedules({ cursor: text }))
    await onlyKnownErrors(() => client.limits.describe('any', { cursor: text }))
  })
})

test('durations', async () => {
  const duration = fc
    .tuple(fc.double(), fc.constantFrom('ms', 's', 'm', 'h', 'd', 'w'))
    .map(([n, unit]) => `${n}${unit}`)
  await fuzz(fc.oneof(fc.anything(), duration, damaged(duration)), (given) => {
    expect(Number.isSafeInteger(parseDuration(given, 'delay'))).toBe(true)
  })
})

test('records in the rows of a table', async () => {
  const row = record.map((value) => ({ type: value.type, text: recordText(value) }))
  const broken = row.chain(({ type, text }) => damaged(fc.constant(text)).map((changed) => ({ type, text: changed })))
  await fuzz(fc.oneof(row, broken), ({ type, text }) => readRecordText(type, text))
})

test('records in the values of a server', async () => {
  const bytes = fc.tuple(record, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 4 }), fc.nat())
  await fuzz(bytes, ([value, edits, cut]) => {
    const stored = recordValue('12345678', value, storedForm)
    for (const [at, byte] of edits) stored[at % stored.length] = byte
    readRecordValue(value.type, value.id, stored, storedForm)
    readRecordValue(value.type, value.id, stored.subarray(0, cut % stored.length), storedForm)
  })
})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
