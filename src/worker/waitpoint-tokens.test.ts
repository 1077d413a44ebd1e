import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { KeyRing, approval, mintKey, task } from '../client/index.ts'
import { virtualRuntime } from '../runtime/index.ts'
import type { Log } from '../runtime/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import { createFabric } from '../fabric/fabric.ts'
import type { Fabric } from '../fabric/fabric.ts'

const HOUR_MS = 3_600_000
const VOTERS = ['ada', 'bob', 'eve']

const deploy = task<undefined, string>('deploy', { retention: '1m' })

/** A deploy that sends links to its voters, and waits for two approvals. */
async function deployWaiting(store = 'memory:') {
  const runtime = virtualRuntime()
  const links = new Map<string, string>()
  const lines: string[] = []
  const say = (fields: object, message: string) => void lines.push(`${message} ${inspect(fields, { depth: null })}`)
  const log: Log = { debug: say, info: say, warn: say, error: say }
  const keys = { present: KeyRing.begin(runtime.now()), ring: () => keys.present }
  const fabric = await createFabric(store, { runtime, log, keys })
  onTestFinished(() => fabric.close({ drain: 0 }))
  await fabric.work([
    deploy.handle(async (_input, ctx) => {
      const gate = await ctx.waitpoint('gate')
      for (const voter of VOTERS) links.set(voter, gate.token({ for: voter }))
      links.set('', gate.token())
      const review = await ctx.waitFor('review', approval({ on: gate, need: 2, of: VOTERS }))
      return review.ok ? review.votes.map(({ by }) => by.identity).join(' and ') : review.reason
    }),
  ])
  const execution = await fabric.submit(deploy, undefined, { id: 'deploy:1' })
  await runtime.advance(10)
  expect(await execution.state()).toBe('suspended')
  const linkOf = (voter: string) => links.get(voter)!
  return { runtime, fabric, execution, keys, lines, linkOf }
}

async function refusalOf(answering: Promise<unknown>): Promise<EngineError> {
  const error = await answering.catch((thrown: unknown) => thrown)
  if (error instanceof EngineError) return error
  throw new Error(`No refusal, but ${inspect(error)}.`)
}

describe('links to a waitpoint', () => {
  test('speak for those they were made for, each once', async () => {
    const { fabric, execution, linkOf, runtime } = await deployWaiting()

    expect((await fabric.answer(linkOf('ada'), 'approve')).effect).toBe('counted')
    expect((await fabric.answer(linkOf('ada'), 'approve', undefined, { key: 'once more' })).effect).toBe(
      'counted_before',
    )
    expect((await fabric.answer(linkOf(''), 'approve')).effect).toBe('not_awaited')
    expect((await fabric.answer(linkOf('eve'), 'approve')).effect).toBe('resumed')
    await runtime.advance(10)

    expect(await execution.result()).toBe('ada and eve')
  })

  test('outlive a rotation for its grace, and are signed with the new key when they are issued anew', async () => {
    const { fabric, keys, linkOf, runtime } = await deployWaiting()
    const old = keys.present.current.id
    keys.present = keys.present.rotate(mintKey(runtime.now()), HOUR_MS, runtime.now())

    expect((await fabric.answer(linkOf('ada'), 'approve')).effect).toBe('counted')
    await runtime.advance(HOUR_MS + 1)
    expect((await refusalOf(fabric.answer(linkOf('bob'), 'approve'))).code).toBe('token_expired')

    const anew = await fabric.reissue('deploy:1', 'gate', { for: 'bob' })
    expect(anew).not.toContain(old)
    expect((await fabric.answer(anew, 'approve')).effect).toBe('resumed')
  })

  test('are worthless once their key is retired or others were issued', async () => {
    const { fabric, keys, linkOf, runtime } = await deployWaiting()
    const anew = await fabric.reissue('deploy:1', 'gate', { for: 'ada' })
    expect((await refusalOf(fabric.answer(linkOf('ada'), 'approve'))).code).toBe('token_expired')

    const { id } = keys.present.current
    keys.present = keys.present.rotate(mintKey(runtime.now()), HOUR_MS, runtime.now()).retire(id)
    expect((await refusalOf(fabric.answer(anew, 'approve'))).code).toBe('invalid_token')
  })

  test('are nothing to an execution that was removed and submitted again under the same id', async () => {
    const { fabric, execution, linkOf, runtime } = await deployWaiting()
    const before = linkOf('ada')
    await execution.cancel('not today')
    await runtime.advance(HOUR_MS / 6)
    expect((await refusalOf(fabric.answer(before, 'approve'))).code).toBe('invalid_token')
    const again = await fabric.submit(deploy, undefined, { id: 'deploy:1' })
    await runtime.advance(10)

    expect([again.id, again.created, await again.state()]).toEqual([execution.id, 'created', 'suspended'])
    expect((await refusalOf(fabric.answer(before, 'approve'))).code).toBe('token_expired')
    expect((await fabric.answer(linkOf('ada'), 'approve')).effect).toBe('counted')
  })

  test('that are forged get one and the same answer, whatever they speak of and however that stands', async () => {
    const { fabric, linkOf, execution, runtime } = await deployWaiting()
    const elsewhere = new KeyForger()
    const forged = [linkOf('ada').slice(0, -1), elsewhere.forge(execution.id), elsewhere.forge('0-absent'), 'nonsense']
    const before = await Promise.all(forged.map((token) => refusalOf(fabric.answer(token, 'approve'))))
    await execution.cancel('not today')
    await runtime.advance(10)
    const after = await Promise.all(forged.map((token) => refusalOf(fabric.answer(token, 'approve'))))

    const answers = [...before, ...after].map(({ code, message, detail }) => JSON.stringify({ code, message, detail }))
    expect(new Set(answers).size).toBe(1)
    expect(before[0]?.code).toBe('invalid_token')
  })
})

test('neither a token nor a secret is in the store, the log, a list, an event or an error', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-tokens-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { fabric, execution, keys, lines, linkOf, runtime } = await deployWaiting(`sqlite:${path.join(folder, 'a.db')}`)
  await fabric.answer(linkOf('ada'), 'approve')
  const refusal = await refusalOf(fabric.answer(`${linkOf('ada')}x`, 'approve'))
  const anew = await fabric.reissue('deploy:1', 'gate', { for: 'bob' })
  const seen = [...(await lookAround(fabric, execution.id)), inspect(refusal, { depth: null }), ...lines]
  await fabric.answer(anew, 'approve')
  await runtime.advance(10)
  expect(await execution.result()).toBe('ada and bob')
  seen.push(...(await lookAround(fabric, execution.id)))
  await fabric.close()
  for (const name of await readdir(folder)) seen.push(await readFile(path.join(folder, name), 'latin1'))

  const { secret } = keys.present.current
  const hidden = [secret.reveal(), ...[linkOf('ada'), linkOf('bob'), anew].map((token) => token.split('.')[3]!)]
  expect(seen.join('\n')).toContain('gate')
  for (const text of hidden) expect(seen.filter((one) => one.includes(text))).toEqual([])
})

/** Everything that a fabric returns about an execution. */
async function lookAround(fabric: Fabric, id: string): Promise<string[]> {
  const views: unknown[] = [await fabric.describe(id), await fabric.why(id), await fabric.report()]
  views.push(await fabric.waitpoints(), await fabric.waitpoints(id, { all: true }), await fabric.list())
  for await (const step of fabric.steps(id, { values: true })) views.push(step)
  for await (const signal of fabric.signals(id, { values: true })) views.push(signal)
  return views.flatMap((one) => [JSON.stringify(one), inspect(one, { depth: null, showHidden: true })])
}

/** An attacker with another key under a plausible id. */
class KeyForger {
  readonly #key = mintKey(0)

  forge(executionId: string): string {
    const claims = [executionId, `${executionId}\u001fgate`, 'gate', 1, 1, null, 'ada']
    const signed = `v1.${this.#key.id}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
    return `${signed}.${this.#key.secret.mac(signed)}`
  }
}
