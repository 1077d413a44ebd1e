import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../kernel/engine-error.ts'
import { KEY_COUNT_MAX, KeyRing, mintKey, revealRing } from './key-ring.ts'
import type { KeyRingDocument } from './key-ring.ts'

const HOUR_MS = 3_600_000
const SECRET = Buffer.alloc(32, 1).toString('base64url')
const OTHER_SECRET = Buffer.alloc(32, 2).toString('base64url')

function ringOf(document: KeyRingDocument): KeyRing {
  return KeyRing.parse(document)
}

/** What keys are in a ring, and until when. */
function endsOf(ring: KeyRing): Record<string, number | undefined> {
  return Object.fromEntries(ring.keys.map(({ id, notAfter }) => [id, notAfter]))
}

describe('a ring as text', () => {
  test('is what was parsed', () => {
    const document = {
      keys: [
        { id: 'old', secret: SECRET, createdAt: 1, notAfter: 10 },
        { id: 'new', secret: OTHER_SECRET, createdAt: 2 },
      ],
      retired: ['older'],
    }

    const ring = ringOf(document)

    expect(ring.current.id).toBe('new')
    expect(revealRing(ring)).toStrictEqual(document)
  })

  const key = { id: 'a', secret: SECRET, createdAt: 1 }
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'the ring must be an object with keys, retired.'],
    ['a list', [key], 'the ring must be an object'],
    ['no list of keys', { keys: { a: SECRET } }, 'keys must be a list'],
    ['an unknown field', { keys: [key], [SECRET]: 1 }, 'has a field that is none of keys, retired.'],
    ['a key that is none', { keys: [null] }, 'keys[0] must be an object with id, secret, createdAt, notAfter.'],
    ['no keys', { keys: [] }, 'there is no current key'],
    ['no current key', { keys: [{ ...key, notAfter: 5 }] }, 'there is no current key'],
    ['two current keys', { keys: [key, { ...key, id: 'b' }] }, 'there are several current keys'],
    ['an id twice', { keys: [key, { ...key, notAfter: 5 }] }, 'the id a occurs twice'],
    ['a retired id among the keys', { keys: [key], retired: ['a'] }, 'the id a occurs twice'],
    ['an id with a dot', { keys: [{ ...key, id: 'a.b' }] }, 'keys[0].id must be'],
    ['an id in a list', { keys: [{ ...key, id: ['a'] }] }, 'keys[0].id must be'],
    ['an id like a flag', { keys: [{ ...key, id: '-a' }] }, 'keys[0].id must be'],
    ['a short secret', { keys: [{ ...key, secret: SECRET.slice(0, 40) }] }, 'keys[0].secret must be at least 32 bytes'],
    ['a secret that is no text', { keys: [{ ...key, secret: 5 }] }, 'keys[0].secret must be at least 32 bytes'],
    ['a date as text', { keys: [{ ...key, createdAt: '2026' }] }, 'keys[0].createdAt must be in milliseconds'],
    ['a date before 1970', { keys: [{ ...key, createdAt: -1 }] }, 'keys[0].createdAt must be in milliseconds'],
    ['an end as text', { keys: [{ ...key, notAfter: '2026' }] }, 'keys[0].notAfter must be in milliseconds'],
    ['a retired id that is in no list', { keys: [key], retired: 'b' }, 'retired must be a list of key ids'],
    ['a retired secret', { keys: [key], retired: [{ id: 'b' }] }, 'retired must be a list of key ids'],
  ])('with %s is refused, and the error shows no secret', (_what, document, problem) => {
    const error = errorOf(() => KeyRing.parse(document))

    expect(error).toMatchObject({ code: 'invalid_keys', detail: { field: 'keys' } })
    expect(error.message).toContain(problem)
    expect(inspect(error, { depth: null })).not.toContain(SECRET.slice(0, 16))
  })
})

describe('a rotation', () => {
  test('lets a new key sign and gives the one before it a grace', () => {
    const ring = KeyRing.begin(0)
    const next = ring.rotate(mintKey(100), HOUR_MS, 100)

    expect(next.current.id).not.toBe(ring.current.id)
    expect(endsOf(next)).toEqual({ [ring.current.id]: 100 + HOUR_MS, [next.current.id]: undefined })
  })

  test('leaves the time of keys before the last one as it was', () => {
    const a = KeyRing.begin(0)
    const b = a.rotate(mintKey(1), 50, 1)
    const c = b.rotate(mintKey(2), 10, 2)

    expect(c.find(a.current.id)?.notAfter).toBe(51)
    expect(c.find(b.current.id)?.notAfter).toBe(12)
  })

  test('forgets keys whose time is over, and keeps one whose last moment is now', () => {
    const a = KeyRing.begin(0)
    const b = a.rotate(mintKey(0), 100, 0)

    expect(b.rotate(mintKey(100), 10, 100).find(a.current.id)).toBeDefined()
    const c = b.rotate(mintKey(101), 10, 101)
    expect(c.find(a.current.id)).toBeUndefined()
    expect(c.retired).toEqual([a.current.id])
  })

  test('refuses an id that is known or was retired, also with the same secret', () => {
    const first = KeyRing.begin(0)
    const known = first.rotate(mintKey(1), HOUR_MS, 1)
    const retired = known.retire(first.current.id)

    for (const ring of [first, known, retired]) {
      expect(errorOf(() => ring.rotate(first.current, HOUR_MS, 2)).message).toContain('ids are never reused')
      expect(errorOf(() => ring.rotate({ ...mintKey(2), id: first.current.id }, HOUR_MS, 2)).code).toBe('invalid_keys')
    }
  })

  test('is refused when too many keys are in their grace', () => {
    let ring = KeyRing.begin(0)
    for (let i = 1; i < KEY_COUNT_MAX; i++) ring = ring.rotate(mintKey(i), HOUR_MS, i)

    expect(errorOf(() => ring.rotate(mintKey(99), HOUR_MS, 99)).message).toContain('retire some')
  })
})

describe('retiring a key', () => {
  test('forgets it before its time', () => {
    const a = KeyRing.begin(0)
    const ring = a.rotate(mintKey(1), HOUR_MS, 1).retire(a.current.id)

    expect(ring.find(a.current.id)).toBeUndefined()
    expect(ring.retired).toEqual([a.current.id])
    expect(errorOf(() => ring.retire(a.current.id)).message).toContain('is retired already')
  })

  test('is refused for the current key and for an unknown one', () => {
    const ring = KeyRing.begin(0)

    expect(errorOf(() => ring.retire(ring.current.id)).message).toContain('rotate first')
    expect(errorOf(() => ring.retire('k0')).message).toContain('is not in the ring')
    for (const id of [ring.current.id, 'k0']) {
      expect(errorOf(() => ring.retire(id))).toMatchObject({ code: 'invalid_input', detail: { field: 'id' } })
    }
  })
})

describe('a ring that follows another', () => {
  const old = { id: 'old', secret: SECRET, createdAt: 1, notAfter: 100 }
  const current = { id: 'current', secret: OTHER_SECRET, createdAt: 2 }
  const before = ringOf({ keys: [old, current], retired: ['gone'] })

  test('retires what is no longer in it, and forgets no retired id', () => {
    const after = ringOf({ keys: [current], retired: [] }).after(before)

    expect(after.retired).toEqual(['gone', 'old'])
    expect(errorOf(() => ringOf({ keys: [old, current] }).after(after)).message).toContain('old was retired')
  })

  test('may end a key sooner but never later', () => {
    expect(endsOf(ringOf({ keys: [{ ...old, notAfter: 99 }, current] }).after(before)).old).toBe(99)
    for (const later of [
      [{ ...old, notAfter: 101 }, current],
      [
        { id: 'old', secret: SECRET, createdAt: 1 },
        { ...current, notAfter: 5 },
      ],
    ]) {
      expect(errorOf(() => ringOf({ keys: later }).after(before)).message).toContain('valid for longer')
    }
  })

  test('cannot give a known id another secret', () => {
    const swapped = ringOf({ keys: [old, { ...current, secret: SECRET }] })
    expect(errorOf(() => swapped.after(before)).message).toContain('another secret')
  })
})

test('a ring shows no secret, however it is printed', () => {
  const ring = ringOf({ keys: [{ id: 'a', secret: SECRET, createdAt: 1 }] })

  for (const text of [JSON.stringify(ring), inspect(ring, { depth: null, showHidden: true })]) {
    expect(text).not.toContain(SECRET.slice(0, 8))
    expect(text).toContain('<REDACTED>')
  }
})

function errorOf(run: () => unknown): EngineError {
  try {
    run()
  } catch (error) {
    if (error instanceof EngineError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}
