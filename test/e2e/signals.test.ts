import { expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

const HANDLERS = `import { approval, signal, task } from 'flowfabric'
export const deployHandler = task('deploy').handle(async (_input, ctx) => {
  const image = await ctx.step('build', () => 'image:1')
  const links = await ctx.waitpoint('links')
  const review = await ctx.waitFor('review', approval({ need: 2, on: links }))
  const go = await ctx.waitFor('go', signal('go'))
  return { image, review: review.ok ? review.votes.map((vote) => vote.by.identity) : review.reason, go: go.value }
})
`

interface Receipt {
  readonly kind: string
  readonly effect: string
}

interface Recorded {
  readonly steps: readonly { readonly name: string; readonly value?: unknown }[]
  readonly signals: readonly { readonly name: string; readonly by: { readonly identity: string } }[]
}

/** An execution that waits for its review, and the process that runs it. */
async function deploying(): Promise<Workplace> {
  const place = await workplace()
  await place.install()
  await place.write('handlers.mjs', HANDLERS)
  const dev = place.start(['dev', 'handlers.mjs'])
  await dev.prints(/The engine runs/)
  await place.run(['submit', 'deploy', '--id', 'deploy:42'])
  await dev.prints(/execution_suspended .*step=review/)
  return place
}

async function untilEnded(place: Workplace): Promise<unknown> {
  const ended = await place.json<{ result: unknown }>('submit', 'deploy', '--id', 'deploy:42', '--wait')
  return ended.result
}

test('a deployment is approved by two people, receives its signal, and shows its journal', async () => {
  const place = await deploying()

  expect((await place.run(['why', 'deploy:42'])).stdout).toContain("so far 0 of 2 'approve', 0 of 1 'reject'")
  expect((await place.run(['waitpoints'])).stdout).toMatch(/deploy +links +awaited +approve, reject/)
  const votes = [
    await place.json<Receipt>('approve', 'deploy:42', 'links', '--by', 'ada', '--note', 'fine'),
    await place.json<Receipt>('approve', 'deploy:42', 'links', '--by', 'ada'),
    await place.json<Receipt>('approve', 'deploy:42', 'links', '--by', 'bob'),
    await place.json<Receipt>('signal', 'deploy:42', 'go', '{"at":"noon"}', '--key', 'event:1'),
    await place.json<Receipt>('signal', 'deploy:42', 'go', '{"at":"noon"}', '--key', 'event:1'),
  ]

  expect(votes.slice(0, 3).map(({ effect }) => effect)).toEqual(['counted', 'counted_before', 'resumed'])
  expect(votes.slice(3).map(({ kind }) => kind)).toEqual(['delivered', 'duplicate'])
  expect(await untilEnded(place)).toEqual({ image: 'image:1', review: ['ada', 'bob'], go: { at: 'noon' } })
  const { steps, signals } = await place.json<Recorded>('steps', 'deploy:42', '--values')
  expect(steps.map(({ name }) => name)).toEqual(['build', 'links', 'review', 'go'])
  expect(steps[0]?.value).toBe('image:1')
  expect(signals.map(({ name, by }) => [name, by.identity])).toEqual([
    ['approve', 'ada'],
    ['approve', 'ada'],
    ['approve', 'bob'],
    ['go', 'cli'],
  ])
  expect((await place.run(['steps', 'deploy:42'])).stdout).not.toContain('image:1')
})

test('a token votes for its holder, from standard input or the environment, and is never printed', async () => {
  const place = await deploying()
  const { tokens } = await place.json<{ tokens: { for: string; token: string }[] }>(
    ...['reissue', 'deploy:42', 'links', '--for', 'ada', '--for', 'bob', '--expires', '2d'],
  )
  const [ada = '', bob = ''] = tokens.map(({ token }) => token)

  const runs = [
    await place.run(['signal', 'deploy:42', 'approve', '--token'], { stdin: `${ada}\n` }),
    await place.run(['signal', 'deploy:42', 'approve', '--token', '-'], { stdin: ada }),
    await place.run(['signal', 'deploy:42', 'approve', '--token'], { env: { FLOWFABRIC_TOKEN: bob } }),
    await place.run(['signal', 'deploy:42', 'approve', '--token', `${bob.slice(0, -1)}!`, '--json']),
    await place.run(['signal', 'deploy:42', 'approve', '--token', '--by', 'eve'], { stdin: ada }),
    await place.run(['steps', 'deploy:42']),
    await place.run(['waitpoints', 'deploy:42', '--all']),
  ]

  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 2, 2, 0, 0])
  expect(errorIn(runs[3]!).code).toBe('invalid_token')
  expect(runs[5]?.stdout).toMatch(/approve +links +ada \(token\) +counted/)
  for (const token of [ada, bob]) expect(JSON.stringify(runs)).not.toContain(token)
})

test('an operator resumes it, and a replay runs a step and all later ones again', async () => {
  const place = await deploying()

  await place.run(['resume', 'deploy:42', '--by', 'eve', '--reason', 'approved by phone'])
  await place.run(['signal', 'deploy:42', 'go', '1'])
  expect(await untilEnded(place)).toMatchObject({ review: 'resumed', go: 1 })
  const unknown = await place.run(['replay', 'deploy:42', '--from', 'print', '--json'])
  await place.run(['replay', 'deploy:42', '--from', 'go'])
  await place.run(['signal', 'deploy:42', 'go', '2'])

  expect(unknown.code).toBe(3)
  expect(errorIn(unknown).code).toBe('step_not_found')
  expect(await untilEnded(place)).toMatchObject({ review: 'resumed', go: 2 })
})

test('refuses unknown waitpoints, misplaced flags and other waits', async () => {
  const place = await deploying()

  const unknown = await place.run(['approve', 'deploy:42', 'nowhere', '--by', 'ada', '--json'])
  const misplaced = await place.run(['waitpoints', '--all'])
  const both = await place.run(['approve', 'deploy:42', 'links', '"x"', '--note', 'y'])
  const other = await place.run(['resume', 'deploy:42', '--step', 'go', '--json'])

  expect([unknown.code, misplaced.code, both.code, other.code]).toEqual([3, 2, 2, 1])
  expect(errorIn(unknown).code).toBe('waitpoint_not_found')
  expect(errorIn(other).code).toBe('waits_elsewhere')
})
