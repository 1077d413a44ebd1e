/** Values that are encrypted before they are stored, on every store: nothing plain, rotation, wrong keys, tampering. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { allOf, dropCodecKey, encryption, flow, mintCodecKeys, rotateCodecKeys, task } from '../../../src/index.ts'
import { signal } from '../../../src/client/define/signal-wait.ts'
import type { Fabric } from '../../../src/fabric/fabric.ts'
import { until } from '../../servers/until.ts'
import { storeTargets } from '../targets.ts'
import { siteOn } from './sealed-site.ts'
import type { Site } from './sealed-site.ts'

const LIMIT_MS = 30_000
const SECRET = 'plain-3f81'
const keys = mintCodecKeys(0)

const child = task<{ readonly text: string }, string>('child')
const carry = task('carry', {
  input: z.object({ text: z.string() }),
  output: z.unknown(),
  frames: { token: z.unknown() },
  retry: { attempts: 1 },
})
const handlers = [
  child.handle(({ text }) => `child of ${text}`),
  carry.handle(async ({ text }, ctx) => {
    ctx.log.info({ text }, `carrying ${text}`)
    await ctx.summary.patch({ text })
    const step = await ctx.step('keep', async (s) => {
      await s.frames.token(text)
      await s.frames.token({ text }, { live: true })
      return { text }
    })
    const bytes = await ctx.step('bytes', () => Buffer.from(text))
    const called = await ctx.call('child', child, { text })
    const answer = await ctx.waitFor('answer', signal('answer'))
    return { text, step, called, answer, bytes: Buffer.from(bytes).toString() }
  }),
]

/** Submits the task that stores a value of each kind, and returns its result. */
async function carried(fabric: Fabric, text: string) {
  const execution = await fabric.submit(carry, { text })
  await execution.signal('answer', { text })
  return { execution, result: await execution.result() }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

async function working(site: Site, codec = encryption({ keys })) {
  const fabric = site.fabric(codec)
  await fabric.work(handlers, { sweep: '100ms' })
  return fabric
}

describe.each(storeTargets)('encrypted values on $name', (target) => {
  test('are read as they were written, and nothing plain reaches the store', async () => {
    const site = await siteOn(target)
    const fabric = await working(site)

    const { execution, result } = await carried(fabric, SECRET)
    const text = SECRET
    const expected = { text, step: { text }, called: `child of ${text}`, bytes: text }
    expect(result).toMatchObject({ ...expected, answer: { value: { text } } })
    const frames = await collect(execution.frames({ follow: false }))
    expect(frames.filter(({ kind }) => kind === 'frame')).toMatchObject([{ value: SECRET }, { value: { text } }])
    expect(await execution.summary()).toMatchObject({ document: { text } })
    expect((await collect(execution.logs({ follow: false })))[0]).toMatchObject({ fields: { text } })
    const sum = flow('pass', (f) => {
      const first = f.node('first', child, { input: { text } })
      return f.node('second', child, { after: allOf(first), input: { text } })
    })
    expect(await (await fabric.submit(sum, undefined, { id: 'pass' })).result()).toBe(`child of ${text}`)
    await fabric.submit(child, { text }, { debounce: { key: 'd', wait: '1h' } })

    expect(site.stored()).toContain('aes-256-gcm')
    expect(site.stored()).not.toContain(SECRET)
  })

  test('have digests with a key, so a repeated submit joins and another input is refused', async () => {
    const site = await siteOn(target)
    const first = site.fabric(encryption({ keys }))
    const rotated = site.fabric(encryption({ keys: rotateCodecKeys(keys, 1) }))

    expect((await first.submit(child, { text: 'a' }, { id: 'x' })).created).toBe('created')
    expect((await rotated.submit(child, { text: 'a' }, { id: 'x' })).created).toBe('joined')
    await expect(rotated.submit(child, { text: 'b' }, { id: 'x' })).rejects.toMatchObject({ code: 'input_differs' })
  })

  test('of an old key are read after a rotation, and not without the key', async () => {
    const site = await siteOn(target)
    const before = await working(site)
    const { execution } = await carried(before, SECRET)
    const next = rotateCodecKeys(keys, 1)
    const after = site.fabric(encryption({ keys: next }))
    const without = site.fabric(encryption({ keys: dropCodecKey(next, keys.keys[0]!.id) }))

    expect(await after.execution(execution.id).result()).toMatchObject({ text: SECRET })
    await expect(without.execution(execution.id).result()).rejects.toMatchObject({ code: 'codec_key_missing' })
  })

  test('are shown as sealed to a program without the key, which gets no handler input', async () => {
    const site = await siteOn(target)
    const { execution } = await carried(await working(site), SECRET)
    const plain = site.fabric()
    const { id } = execution

    expect(await plain.describe(id, { payload: true, result: true })).toMatchObject({
      input: { sealed: 'value_sealed' },
      result: { sealed: 'value_sealed' },
    })
    await expect(plain.execution(id).result()).rejects.toMatchObject({ code: 'value_sealed' })
    const lines = await collect(plain.execution(id).logs({ follow: false }))
    expect(new Set(lines.map((line) => line.kind === 'line' && line.message))).toEqual(new Set(['(value_sealed)']))
    expect(await plain.execution(id).summary()).toMatchObject({ document: { sealed: 'value_sealed' } })
  })

  test('of another key are left to other workers, and fail their execution only after many', async () => {
    const site = await siteOn(target)
    const fabric = await working(site)
    const { id } = await site.fabric(encryption({ keys: mintCodecKeys(0) })).submit(child, { text: 'other' })

    const refused = await until('a worker refuses the input', LIMIT_MS, async () => {
      const found = await fabric.describe(id)
      return found.refusals === undefined ? undefined : found
    })
    expect(refused).toMatchObject({ state: 'delayed', refusals: { count: 1 } })
  })

  test('that were changed or moved are refused', async () => {
    const site = await siteOn(target)
    const fabric = site.fabric(encryption({ keys }))
    const worker = await fabric.work(handlers, { sweep: '100ms' })
    const a = (await carried(fabric, 'a')).execution
    const b = (await carried(fabric, 'b')).execution
    await worker.close()
    let other: readonly Uint8Array[] = []
    site.tamper = (call, blobs) => {
      if (call.operation === 'describeExecution') other = blobs
      return blobs
    }
    await a.result()
    site.tamper = (call, blobs) => (call.operation === 'describeExecution' ? other : blobs)
    await expect(b.result()).rejects.toMatchObject({ code: 'value_tampered' })

    site.tamper = (_call, blobs) =>
      blobs.map((blob) => {
        const changed = Uint8Array.from(blob)
        changed[changed.length - 20]! ^= 1
        return changed
      })
    await expect(a.result()).rejects.toMatchObject({ code: 'value_tampered' })
    site.tamper = (_call, blobs) => blobs
    expect(await a.result()).toMatchObject({ text: 'a' })
  })

  test('replace plain values from now on; a program may refuse plain ones', async () => {
    const site = await siteOn(target)
    const plain = site.fabric()
    const { id } = await plain.submit(child, { text: 'early' })
    const fabric = await working(site)

    expect(await fabric.execution(id).result()).toBe('child of early')
    const strict = site.fabric(encryption({ keys, plain: 'refuse' }))
    const described = await strict.describe(id, { payload: true, result: true })
    expect(described).toMatchObject({ input: { sealed: 'value_tampered' }, result: 'child of early' })
  })
})

test('for any value, nothing of it is in what is stored', async () => {
  const site = await siteOn(storeTargets[0]!)
  const fabric = await working(site)
  const text = fc.string({
    minLength: 8,
    maxLength: 200,
    unit: fc.constantFrom('a', 'e', 'k', 'x', 'ä', '7', ' ', '_'),
  })

  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      const marked = `§${given}§`
      expect((await carried(fabric, marked)).result).toMatchObject({ text: marked, bytes: marked })
      const utf8 = Buffer.from(given).toString('latin1')
      expect(site.stored().includes(given) || site.stored().includes(utf8)).toBe(false)
    }),
    { numRuns: 25 },
  )
})

test('keys that cannot be used are refused when the codec is made, without their text', () => {
  const wrong = { ...keys, keys: [{ ...keys.keys[0]!, secret: 'c2hvcnQ' }] }
  const refusal = (given: unknown) => {
    try {
      encryption({ keys: given as never })
      return undefined
    } catch (error) {
      return error as Error & { code: string }
    }
  }

  for (const given of [wrong, { keys: [] }, {}, null, '/no/such/file']) {
    expect(refusal(given)).toMatchObject({ code: 'invalid_configuration' })
  }
  expect(String(refusal(wrong)?.stack)).not.toContain('c2hvcnQ')
})
