import { describe, expect, test } from 'vitest'
import { flowPlace } from './flow-place.ts'
import { testFlows } from './flow-stories.ts'
import { errorIn, sharedWorkplace } from './workplace.ts'

interface Page {
  readonly items: readonly { readonly key: string }[]
  readonly cursor?: string
}

describe('on a SQLite file', () => {
  testFlows(() => ({}))
})

describe('flow show', () => {
  test('answers the description with --json, and its members if they are asked for', async () => {
    const flows = await flowPlace()
    const id = await flows.submit('release:1')

    const alone = await flows.json('flow', 'show', 'release:1')
    const { members } = await flows.show('release:1')

    expect(alone).toMatchObject({
      id,
      key: 'release:1',
      name: 'release',
      state: 'open',
      phase: 'sealed',
      memberCount: 5,
      edgeCount: 5,
      counts: { waiting: 1, waiting_dependencies: 4 },
      at: expect.any(Number) as unknown,
    })
    expect(alone).not.toHaveProperty('members')
    expect(members.map(({ node, level }) => [node, level])).toEqual([
      ['build', 1],
      ['unit', 2],
      ['e2e', 2],
      ['deploy', 3],
      ['announce', 4],
    ])
    expect(members[3]?.upstreams.map(({ node, isOpen }) => [node, isOpen]).sort()).toEqual([
      ['e2e', true],
      ['unit', true],
    ])
  })

  test('collapses a large graph, and draws all of it with --members', async () => {
    const flows = await flowPlace()
    await flows.submit('many:1', 300)

    const [folded, whole] = await Promise.all([
      flows.run('flow', 'show', 'many:1'),
      flows.run('flow', 'show', 'many:1', '--members'),
    ])

    expect(folded.stdout).toMatch(/members +301: 300 waiting, 1 waiting_dependencies\n/)
    expect(folded.stdout).toContain('┌ level 1: 300 waiting\n│\n└ level 2: 1 waiting_dependencies\n')
    expect(folded.stdout).toMatch(
      /^ +· join +waiting_dependencies +\S+ +after all of part-0, part-1, part-2 and 297 more$/m,
    )
    expect(folded.stderr).toContain('--members shows every member')
    expect(whole.stdout.match(/○ part-\d+ /g)).toHaveLength(300)
    expect(whole.stderr).toBe('')
  })

  test('has colours when they are forced, and none otherwise', async () => {
    const flows = await flowPlace()
    await flows.submit('release:1')

    const [coloured, plain] = await Promise.all([
      flows.place.run(['flow', 'show', 'release:1'], { env: { FORCE_COLOR: '1' } }),
      flows.run('flow', 'show', 'release:1'),
    ])

    expect(coloured.stdout).toContain('\u001b[')
    expect(plain.stdout).not.toContain('\u001b')
  })
})

describe('flow list', () => {
  test('shows flows newest first, by name and state, page by page', async () => {
    const flows = await flowPlace()
    for (const key of ['a', 'b']) await flows.submit(key)
    await flows.submit('c', 3)
    await flows.run('flow', 'cancel', 'a')

    const text = await flows.run('flow', 'list')
    const keysOf = async (...args: string[]) =>
      (await flows.json<Page>('flow', 'list', ...args)).items.map(({ key }) => key)

    expect(text.stdout.split('\n')[0]).toMatch(/^ID +NAME +STATE +MEMBERS +LEFT +CREATED +KEY$/)
    expect(text.stdout).toMatch(/^f0-[0-9a-f-]{36} +many +open +4 +4 +\S+Z +c$/m)
    expect(await keysOf()).toEqual(['c', 'b', 'a'])
    expect(await keysOf('--name', 'release')).toEqual(['b', 'a'])
    expect(await keysOf('--state', 'cancelled')).toEqual(['a'])
    const first = await flows.json<Page>('flow', 'list', '--limit', '2')
    expect(await keysOf('--limit', '2', '--cursor', first.cursor ?? '')).toEqual(['a'])
  })
})

describe('flow cancel', () => {
  test('ends a flow that is not running, and reports a repeated cancel', async () => {
    const flows = await flowPlace()
    await flows.submit('release:1')

    const first = await flows.run('flow', 'cancel', 'release:1', '--reason', 'not today')
    const again = await flows.run('flow', 'cancel', 'release:1')
    const shown = await flows.run('flow', 'show', 'release:1')

    expect(first.stdout).toMatch(/^f0-\S+ cancelled; all its members have ended\n$/)
    expect(again.stdout).toMatch(/^f0-\S+ was cancelled already, by cancel_all; all its members have ended\n$/)
    expect(shown.stdout).toMatch(/cancelled +not today \(cli\), cancel_all\n/)
    expect(shown.stdout).toMatch(/■ build +cancelled +0-\S+ +not today \(cli\)\n/)
  })

  test('with flow_only leaves the members running', async () => {
    const flows = await flowPlace()
    await flows.submit('release:1')

    const { stdout } = await flows.run('flow', 'cancel', 'release:1', '--policy', 'flow_only')

    expect(stdout).toMatch(/^f0-\S+ cancelled; 5 members keep running\n$/)
    expect(await flows.states('release:1')).toMatchObject({ build: 'waiting', unit: 'waiting_dependencies' })
  })

  test('exits with 1 and names the remaining members when --wait times out', async () => {
    const flows = await flowPlace()
    await flows.submit('release:1')
    // The lease outlives the test, so that the member stays active without its worker.
    const worker = await flows.work('1m')
    await flows.untilNode('release:1', 'unit', 'active')
    await worker.endBy('SIGKILL')

    const late = await flows.run('flow', 'cancel', 'release:1', '--wait', '50ms', '--json')

    expect(late.code).toBe(1)
    expect(errorIn(late)).toMatchObject({
      code: 'flow_not_settled',
      message: expect.stringContaining('unit') as unknown,
    })
  })
})

describe('flow seal', () => {
  test('starts held members, and reports a flow that is sealed already', async () => {
    const flows = await flowPlace()
    await flows.createHeld('import:7')

    const held = await flows.run('flow', 'show', 'import:7')
    const sealed = await flows.run('flow', 'seal', 'import:7')
    const again = await flows.json('flow', 'seal', 'import:7')

    expect(held.stdout).toMatch(/graph +held: no member runs before the flow is sealed\n/)
    expect(held.stdout).toMatch(/○ first +waiting +0-\S+ +held\n/)
    expect(sealed.stdout).toMatch(/^f0-\S+ sealed \(open, 2 members\)\n$/)
    expect(again).toMatchObject({ kind: 'already_sealed', memberCount: 2 })
  })
})

describe('a member', () => {
  test('shows its flow and its node, and why it does not run', async () => {
    const flows = await flowPlace()
    const id = await flows.submit('release:1')
    const deploy = (await flows.show('release:1')).members.find(({ node }) => node === 'deploy')?.id ?? ''

    const [shown, document, why] = await Promise.all([
      flows.run('show', deploy),
      flows.json('show', deploy),
      flows.run('why', deploy),
    ])

    expect(shown.stdout).toMatch(new RegExp(`flow +${id}\n +node +deploy\n +after +all of 2 others: 0 completed`))
    expect(document).toMatchObject({ flowId: id, node: 'deploy' })
    expect(why.stdout).toMatch(/unit/)
    expect(why.stdout).toMatch(/e2e/)
  })

  test('can be replayed alone', async () => {
    const flows = await flowPlace()
    await flows.submit('release:1')
    const worker = await flows.work()
    await flows.untilNode('release:1', 'deploy', 'skipped')
    await flows.place.write('go', '')
    await flows.place.write('mended', '')
    await flows.untilState('release:1', 'failed')

    const replayed = await flows.json('flow', 'replay', 'release:1', 'e2e', '--no-subtree')
    await flows.untilNode('release:1', 'e2e', 'completed')
    await worker.endBy('SIGTERM')

    expect(replayed).toMatchObject({ kind: 'replayed', node: 'e2e', replayCount: 1 })
    expect(await flows.states('release:1')).toMatchObject({ e2e: 'completed', deploy: 'skipped' })
  })
})

describe('tail --flow', () => {
  test('shows the events of a flow and of its members, and no others', async () => {
    const flows = await flowPlace()
    await flows.run('submit', 'greet', '--id', 'other')
    const id = await flows.submit('release:1')
    await flows.run('flow', 'cancel', 'release:1')

    const tail = flows.start('tail', '--flow', 'release:1', '--from-start')
    await tail.prints(/flow_cancelled[^]*(execution_ended.*\n[^]*){5}/)
    const { stdout } = await tail.endBy('SIGTERM')

    expect(stdout).toMatch(new RegExp(`flow_created +${id} release`))
    expect(stdout).not.toContain('greet')
  })
})

describe('refusals', () => {
  const place = sharedWorkplace(async (place) => {
    await place.run(['submit', 'greet'])
  })

  test.each([
    ['show', ['show', 'no-such-flow']],
    ['cancel', ['cancel', 'no-such-flow']],
    ['seal', ['seal', 'no-such-flow']],
    ['replay', ['replay', 'no-such-flow', 'build']],
  ])('a flow that does not exist exits flow %s with 3', async (_, args) => {
    const refused = await place().run(['flow', ...args, '--json'])

    expect(refused).toMatchObject({ code: 3, stdout: '' })
    expect(errorIn(refused).code).toBe('flow_not_found')
  })

  test('a node that does not exist exits with 3 and is named', async () => {
    const flows = await flowPlace()
    await flows.submit('release:1')

    const refused = await flows.run('flow', 'replay', 'release:1', 'tests', '--json')

    expect(refused.code).toBe(3)
    expect(errorIn(refused).message).toContain('"tests"')
  })

  test.each([
    ['an unknown policy', ['cancel', 'release:1', '--policy', 'all'], 'cancel_pending'],
    ['a grace that is none', ['cancel', 'release:1', '--grace', 'soon'], '--grace'],
    ['an unknown state', ['list', '--state', 'active'], 'running'],
    ['an unknown command', ['frobnicate'], '--help'],
    ['no command', [], '--help'],
    ['the id of an execution', ['show', '0-00000000-0000-7000-8000-000000000000'], 'execution'],
  ])('%s exits with 2', async (_, args, named) => {
    const refused = await place().run(['flow', ...args, '--json'])

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(errorIn(refused).message).toContain(named)
  })
})
