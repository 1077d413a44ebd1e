/** Values that are stored in a bucket: sizes, lost and changed objects, outages, orphans and their removal. */
import { mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { encryption, fileBucket, flow, mintCodecKeys, offload, s3Bucket, task } from '../../../src/index.ts'
import type { Bucket } from '../../../src/index.ts'
import type { Fabric } from '../../../src/fabric/fabric.ts'
import { partitionOf } from '../../../src/client/transport/ids.ts'
import type { ExecutionId } from '../../../src/kernel/index.ts'
import { until } from '../../servers/until.ts'
import { storeTargets } from '../targets.ts'
import { S3Server } from './s3-server.ts'
import { siteOn } from './sealed-site.ts'

const LIMIT_MS = 30_000
const MEBIBYTE = 1_048_576
const DAY_MS = 86_400_000
const keys = mintCodecKeys(0)
const large = 'plain-77aa '.repeat(200_000)

const echo = task<string, string>('echo', { retention: '1ms' })
const lasting = task<string, string>('lasting')
const handlers = [echo, lasting].map((each) => each.handle(async (text, ctx) => await ctx.step('keep', () => text)))

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'flowfabric-bucket-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

async function namesIn(bucket: Bucket): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of bucket.list()) names.push(name)
  return names.sort()
}

function codecOf(bucket: Bucket) {
  return [encryption({ keys }), offload({ to: bucket })]
}

async function echoed(fabric: Fabric, text: string) {
  const execution = await fabric.submit(echo, text)
  return { id: execution.id, result: await execution.result() }
}

describe.each(storeTargets)('offloaded values on $name', (target) => {
  test('may be larger than the store permits, and are encrypted in their bucket', async () => {
    const site = await siteOn(target)
    const root = await folder()
    const fabric = site.fabric(codecOf(fileBucket(root)))
    await fabric.work(handlers, { sweep: '100ms' })

    expect(large.length).toBeGreaterThan(2 * MEBIBYTE)
    expect((await echoed(fabric, large)).result).toBe(large)
    const files = await filesIn(root)
    // The input, the value of the step, and the result.
    expect(files).toHaveLength(3)
    for (const file of files) expect((await readFile(file)).includes('plain-77aa')).toBe(false)
    // However many calls the worker made meanwhile.
    expect(
      Math.max(
        ...site
          .stored()
          .split('\n')
          .map((part) => part.length),
      ),
    ).toBeLessThan(20_000)
  })

  test('are not inputs of shaped submits, which the store keeps and which are no larger than without a bucket', async () => {
    const site = await siteOn(target)
    const root = await folder()
    const fabric = site.fabric(codecOf(fileBucket(root)))
    const shaped = (text: string) => fabric.submit(echo, text, { debounce: { key: 'a', wait: '1h' } })
    await expect(shaped(large)).rejects.toMatchObject({ code: 'payload_too_large' })
    await shaped(large.slice(0, MEBIBYTE / 2))
    expect(await filesIn(root)).toEqual([])
  })

  test('are removed once their execution is, and not before', async () => {
    const site = await siteOn(target)
    const bucket = fileBucket(await folder())
    const fabric = site.fabric(codecOf(bucket))
    await fabric.work(handlers, { sweep: '100ms' })
    const gone = await echoed(fabric, large)
    const kept = await fabric.submit(lasting, large)
    await kept.result()
    const live = (await namesIn(bucket)).filter((name) => name.startsWith(kept.id))
    expect(live).toHaveLength(3)
    await bucket.put(`0-${'0'.repeat(32)}/${'0'.repeat(64)}-${'0'.repeat(32)}`, Buffer.from('orphan'))

    expect(await fabric.sweepOffloaded(bucket)).toMatchObject({ removed: 0 })
    await untilRemoved(fabric, gone.id)
    await fabric.sweepOffloaded(bucket, { minAge: '0s' })
    expect(await namesIn(bucket)).toEqual(live)
    expect(await kept.result()).toBe(large)
  })
})

describe.each(storeTargets)('a sweep on $name', (target) => {
  test('beside a submit of the same input under the same id removes no value of it', async () => {
    const site = await siteOn(target)
    const inner = fileBucket(await folder())
    // Without encryption, equal values are equal bytes.
    const fabric = site.fabric(offload({ to: inner }))
    await fabric.work(handlers, { sweep: '100ms' })
    const first = await fabric.submit(echo, large, { id: 'again' })
    await first.result()
    await untilRemoved(fabric, first.id)
    const orphans = await namesIn(inner)

    // The sweep has found that the execution does not exist, and it exists again before the removal.
    let again: Promise<unknown> | undefined
    const remove = async (name: string) => {
      again ??= fabric.submit(lasting, large, { id: 'again' })
      await again
      await inner.remove(name)
    }
    const { removed } = await fabric.sweepOffloaded({ ...inner, remove }, { minAge: '0s' })

    expect(removed).toBe(orphans.length)
    const second = fabric.execution('again')
    expect(second.id).toBe(first.id)
    expect((await second.result()) === large).toBe(true)
    expect((await fabric.describe('again', { payload: true })).input === large).toBe(true)
  })

  test('keeps the inputs of a follow-up whose members do not exist yet', async () => {
    const site = await siteOn(target)
    const bucket = fileBucket(await folder())
    const fabric = site.fabric(codecOf(bucket))
    const only = (name: string) => flow('only', (f, input: string) => f.node(name, lasting, { input }))
    await fabric.submit(only('first'), 'small', { id: 'one' })
    const next = await fabric.submit(only('second'), large, { id: 'one', ifExists: 'after' })
    expect(next.created).toBe('follow_up')
    expect((await namesIn(bucket)).length).toBeGreaterThan(0)

    await fabric.sweepOffloaded(bucket, { minAge: '0s' })
    await fabric.work(handlers, { sweep: '100ms' })
    expect((await next.result()) === large).toBe(true)
  })
})

async function untilRemoved(fabric: Fabric, id: ExecutionId): Promise<void> {
  await until('the execution is removed', LIMIT_MS, async () => {
    await fabric.batcher.run(partitionOf(id), 'purgeExecutions', {})
    return (await fabric.try.describe(id)).result.kind === 'refused' ? true : undefined
  })
}

describe('a folder', () => {
  test('with a lost or a changed object is reported, and says which', async () => {
    const site = await siteOn(storeTargets[0]!)
    const root = await folder()
    const fabric = site.fabric(codecOf(fileBucket(root)))
    await fabric.work(handlers, { sweep: '100ms' })
    const { id } = await fabric.submit(lasting, large)
    await fabric.execution(id).result()

    const files = await filesIn(root)
    for (const file of files) await writeFile(file, 'other bytes')
    await expect(fabric.execution(id).result()).rejects.toMatchObject({ code: 'value_tampered' })
    for (const file of files) await rm(file)
    await expect(fabric.execution(id).result()).rejects.toMatchObject({ code: 'object_missing' })
  })

  test('keeps what was uploaded for a call that never came, until it is swept', async () => {
    const site = await siteOn(storeTargets[0]!)
    const root = await folder()
    const bucket = fileBucket(root)
    const fabric = site.fabric(codecOf(bucket))
    site.failure = new Error('killed')
    await expect(fabric.submit(echo, large)).rejects.toBe(site.failure)
    site.failure = undefined

    expect(await filesIn(root)).toHaveLength(1)
    expect(await fabric.sweepOffloaded(bucket)).toEqual({ examined: 1, orphaned: 0, removed: 0 })
    for (const file of await filesIn(root)) await utimes(file, 0, (Date.now() - 2 * DAY_MS) / 1_000)
    const dryRun = await fabric.sweepOffloaded(bucket, { dryRun: true })
    expect(dryRun).toEqual({ examined: 1, orphaned: 1, removed: 0 })
    expect(await filesIn(root)).toHaveLength(1)
    expect(await fabric.sweepOffloaded(bucket)).toEqual({ examined: 1, orphaned: 1, removed: 1 })
    expect(await readdir(root)).toEqual([])
  })

  test('that does not answer delays the submit like a store that does not', async () => {
    const site = await siteOn(storeTargets[0]!)
    const inner = fileBucket(await folder())
    let failures = 5
    const put = async (name: string, bytes: Uint8Array) => {
      if (failures-- > 0) throw new Error('no route to host')
      await inner.put(name, bytes)
    }
    const fabric = site.fabric(codecOf({ ...inner, put }))
    await fabric.work(handlers, { sweep: '100ms' })

    expect((await echoed(fabric, large)).result).toBe(large)
  })
})

test('a bucket that is slow delays no call without large values', async () => {
  const site = await siteOn(storeTargets[0]!)
  const inner = fileBucket(await folder())
  const { promise: answers, resolve: answer } = Promise.withResolvers<undefined>()
  const put = async (name: string, bytes: Uint8Array) => {
    await answers
    await inner.put(name, bytes)
  }
  const fabric = site.fabric(codecOf({ ...inner, put }))
  const slow = [1, 2, 3].map((i) => fabric.submit(echo, large, { id: `slow:${i}` }))
  const small = await fabric.submit(lasting, 'small')

  expect(await small.describe()).toMatchObject({ state: 'waiting' })
  answer(undefined)
  for (const { id } of await Promise.all(slow)) expect((await fabric.describe(id)).state).toBe('waiting')
})

describe('an S3-compatible bucket', () => {
  test('keeps the values', async () => {
    await using server = await S3Server.start()
    const site = await siteOn(storeTargets[0]!)
    const bucket = s3Bucket(server.options)
    const fabric = site.fabric(codecOf(bucket))
    await fabric.work(handlers, { sweep: '100ms' })

    expect((await echoed(fabric, large)).result).toBe(large)
    expect(await namesIn(bucket)).toHaveLength(3)
    await fabric.sweepOffloaded(bucket, { minAge: '0s' })
    const wrong = s3Bucket({ ...server.options, credentials: { accessKeyId: 'id', secretAccessKey: 'wrong' } })
    await expect(wrong.get('a')).rejects.toThrow('the service answered 403 (SignatureDoesNotMatch)')
    await expect(s3Bucket({ ...server.options, bucket: 'none' }).get('a')).rejects.toThrow('does not exist')
  })

  test('lists all pages, and removes what it is asked to', async () => {
    await using server = await S3Server.start()
    const bucket = s3Bucket(server.options)
    const names = Array.from({ length: 5 }, (_, i) => `0-a/${i}`)
    for (const name of names) await bucket.put(name, Buffer.from(name))

    expect(await namesIn(bucket)).toEqual(names)
    await bucket.remove(names[0]!)
    await bucket.remove(names[0]!)
    expect([await bucket.get(names[0]!), Buffer.from((await bucket.get(names[1]!))!).toString()]).toEqual([
      undefined,
      names[1],
    ])
  })
})
