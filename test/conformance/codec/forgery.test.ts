/** Values that a program with access to the store, or a caller without the codec, has made itself. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { packEnvelope } from '../../../src/codec/envelope.ts'
import { encryption, fileBucket, mintCodecKeys, offload, task } from '../../../src/index.ts'
import type { Fabric } from '../../../src/fabric/fabric.ts'
import { storeTargets } from '../targets.ts'
import { siteOn } from './sealed-site.ts'
import type { Site } from './sealed-site.ts'

const keys = mintCodecKeys(0)
const target = storeTargets[0]!
const echo = task('echo')
const strict = () => encryption({ keys, plain: 'refuse' })

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'flowfabric-forged-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

async function described(fabric: Fabric, id: string): Promise<unknown> {
  return (await fabric.describe(id, { payload: true })).input
}

/** Lets every value be read as the envelope that a forger packs. */
function forge(site: Site, binding: string, codecs: readonly string[], body: string): void {
  const forged = packEnvelope({ binding, encoding: 'json', codecs }, Buffer.from(body))
  site.tamper = (_call, blobs) => blobs.map(() => forged)
}

test.each([[[]], [['offload']]])(
  'an envelope of the codecs %j is plain to a program that refuses plain values',
  async (codecs) => {
    const site = await siteOn(target)
    const root = await folder()
    const bucket = fileBucket(root)
    const fabric = site.fabric([strict(), offload({ to: bucket })])
    const { id } = await fabric.submit(echo, 'mine')
    expect(await described(fabric, id)).toBe('mine')

    const name = `${id}/ac1f0fa21bd6ef0b4bbd8cd1a7fcf2dd27bd4a0ae4ad6d7c2a2f5f7fbb40c7d1`
    forge(site, `execution ${id} input`, codecs, codecs.length === 0 ? '"forged"' : name)
    expect(await described(fabric, id)).toMatchObject({ sealed: 'value_tampered' })
  },
)

test('a reference to the object of another execution is refused', async () => {
  const site = await siteOn(target)
  const bucket = fileBucket(await folder())
  const fabric = site.fabric(offload({ to: bucket, above: 10 }))
  const secret = await fabric.submit(echo, 'the secret of another execution')
  const own = await fabric.submit(echo, 'mine')
  const names: string[] = []
  for await (const { name } of bucket.list()) names.push(name)
  expect(names).toMatchObject([expect.stringContaining(secret.id)])

  forge(site, `execution ${own.id} input`, ['offload'], names[0]!)
  expect(await described(fabric, own.id)).toMatchObject({ sealed: 'value_tampered' })
})

test('bytes that look like a sealed value are stored and read as they are', async () => {
  const site = await siteOn(target)
  const fabric = site.fabric(offload({ to: fileBucket(await folder()) }))
  const given = packEnvelope({ binding: 'execution', encoding: 'json', codecs: ['offload'] }, Buffer.from('body'))
  const { id } = await fabric.submit(echo, new Uint8Array(given))

  expect(Buffer.from((await described(fabric, id)) as Uint8Array)).toEqual(Buffer.from(given))
})

test('a program that refuses plain values runs the tasks of FlowFabric itself', async () => {
  const site = await siteOn(target)
  const fabric = site.fabric(strict())
  const own = task('flowfabric.test')
  const { id } = await fabric.submit(own as never, { plain: true } as never)

  expect(await described(fabric, id)).toEqual({ plain: true })
})
