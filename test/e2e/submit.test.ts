import { describe, expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

interface Submitted {
  readonly id: string
  readonly key?: string
  readonly kind: string
  readonly state: string
}

interface Shown {
  readonly state: string
  readonly input?: unknown
  readonly [field: string]: unknown
}

async function inputOf(place: Workplace, id: string): Promise<unknown> {
  return (await place.json<Shown>('show', id, '--payload')).input
}

describe('submit', () => {
  test('answers the id and the state, for people and for programs', async () => {
    const place = await workplace()

    const text = await place.run(['submit', 'greet', '{"name":"Ada"}', '--id', 'greet:ada'])
    const document = await place.json<Submitted>('submit', 'greet', '{"name":"Bob"}', '--delay', '1h')

    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^0-[0-9a-f-]{36} created \(waiting\)\n$/)
    expect(document).toEqual({ id: expect.stringMatching(/^0-/) as unknown, kind: 'created', state: 'delayed' })
  })

  test('takes its input from the line, from a file, from standard input, or has none', async () => {
    const place = await workplace()
    await place.write('input.json', '{"from":"file"}')

    await place.run(['submit', 'greet', '{"from":"line"}', '--id', 'line'])
    await Promise.all([
      place.run(['submit', 'greet', '@input.json', '--id', 'file']),
      place.run(['submit', 'greet', '-', '--id', 'stdin'], { stdin: '{"from":"stdin"}' }),
      place.run(['submit', 'greet', '--id', 'none']),
    ])

    const inputs = await Promise.all(['line', 'file', 'stdin', 'none'].map((id) => inputOf(place, id)))
    expect(inputs).toEqual([{ from: 'line' }, { from: 'file' }, { from: 'stdin' }, undefined])
  })

  test('passes on every setting', async () => {
    const place = await workplace()
    const settings = ['--lane', 'slow', '--priority', '7', '--attempts', '5', '--backoff', 'exponential:2s:1m']
    const limits = ['--timeout', '30s', '--deadline', '1h', '--tag', 'plan=pro', '--tag', 'region=eu']
    const needs = ['--needs', 'region:eu', '--needs', 'gpu']

    const { id } = await place.json<Submitted>('submit', 'report', 'null', ...settings, ...limits, ...needs)

    const shown = await place.json<Shown>('show', id)
    expect(shown).toMatchObject({
      task: 'report',
      lane: 'slow',
      needs: ['gpu', 'region:eu'],
      priority: 7,
      attemptsAllowed: 5,
      tags: { plan: 'pro', region: 'eu' },
      settings: {
        retry: { attempts: 5, backoff: { kind: 'exponential', initialMs: 2_000, maxMs: 60_000 } },
        attemptTimeoutMs: 30_000,
        totalTimeoutMs: 3_600_000,
      },
    })
    expect(shown['deadlineAt']).toBe((shown['createdAt'] as number) + 3_600_000)
  })

  test('with an id that exists compares the input, joins, rejects or replaces', async () => {
    const place = await workplace()
    const first = await place.json<Submitted>('submit', 'greet', '1', '--id', 'once')

    const repeated = await place.json<Submitted>('submit', 'greet', '1', '--id', 'once')
    const other = await place.run(['submit', 'greet', '2', '--id', 'once', '--json'])
    const joined = await place.json<Submitted>('submit', 'greet', '2', '--id', 'once', '--if-exists', 'join')
    const rejected = await place.run(['submit', 'greet', '3', '--id', 'once', '--if-exists', 'reject', '--json'])
    const replaced = await place.json<Submitted>('submit', 'greet', '4', '--id', 'once', '--if-exists', 'replace')

    expect([repeated, joined]).toEqual([
      { ...first, kind: 'joined' },
      { ...first, kind: 'joined' },
    ])
    expect(other.code).toBe(1)
    expect(errorIn(other).code).toBe('input_differs')
    expect(rejected.code).toBe(1)
    expect(errorIn(rejected).code).toBe('execution_exists')
    expect(replaced).toEqual({ ...first, kind: 'replaced' })
    expect(await inputOf(place, 'once')).toBe(4)
  })

  test('in a namespace of its own, one key is another execution', async () => {
    const place = await workplace()
    const here = await place.json<Submitted>('submit', 'greet', '--id', 'once')
    const there = await place.json<Submitted>('submit', 'greet', '--id', 'once', '--namespace', 'tenant')
    const alsoThere = await place.run(['show', 'once', '--json'], { env: { FLOWFABRIC_NAMESPACE: 'tenant' } })

    expect(there).toMatchObject({ kind: 'created' })
    expect(there.id).not.toBe(here.id)
    expect(JSON.parse(alsoThere.stdout)).toMatchObject({ id: there.id, namespace: 'tenant' })
  })
})

describe('a submit with wrong input names what is wrong, exits with 2 and makes no store', () => {
  test.each([
    ['JSON that is none', ['greet', '{name:'], 'JSON'],
    ['a text without its quotes', ['greet', 'Ada'], '"Ada"'],
    ['a file that does not exist', ['greet', '@nowhere.json'], 'nowhere.json'],
    ['an oversized input', ['greet', '@big.json'], '1048576'],
    ['a task name with control characters', ['gre\u0007et'], 'task'],
    ['a lane with control characters', ['greet', '--lane', 'a\u001fb'], 'lane'],
    ['a priority out of range', ['greet', '--priority', '9001'], 'priority'],
    ['a priority that is no number', ['greet', '--priority', 'high'], '--priority'],
    ['a bad duration', ['greet', '--delay', 'tomorrow'], '--delay'],
    ['a bad timeout', ['greet', '--timeout', '0s'], '--timeout'],
    ['no attempts', ['greet', '--attempts', '0'], 'attempts'],
    ['a backoff without attempts', ['greet', '--backoff', 'fixed'], '--attempts'],
    ['an unknown backoff', ['greet', '--attempts', '2', '--backoff', 'linear'], '--backoff'],
    ['a tag without a value', ['greet', '--tag', 'plan'], '--tag'],
    ['a tag with a bad name', ['greet', '--tag', 'Plan=pro'], '--tag'],
    ['an unknown way to meet what exists', ['greet', '--if-exists', 'merge'], '--if-exists'],
    ['an empty id', ['greet', '--id', ''], '--id'],
    ['an empty namespace', ['greet', '--namespace', ''], '--namespace'],
  ])('%s', async (_, args, named) => {
    const place = await workplace()
    await place.write('big.json', JSON.stringify('x'.repeat(1_048_576)))

    const refused = await place.run(['submit', ...args, '--json'])

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(errorIn(refused).message).toContain(named)
    expect(errorIn(refused).advice).not.toBe('')
    expect(place.has('flowfabric.db')).toBe(false)
  })
})
