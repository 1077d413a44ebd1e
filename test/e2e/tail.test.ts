import { describe, expect, test } from 'vitest'
import { errorIn, sharedWorkplace, workplace } from './workplace.ts'

const TRIES_MAX = 50

interface Line {
  readonly kind: string
  readonly cursor: string
  readonly event: { readonly type: string; readonly executionId: string; readonly at: number }
}

function linesOf(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

describe('tail', () => {
  const place = sharedWorkplace(async (place) => {
    await place.run(['submit', 'greet'])
  })

  test('shows what happens in other processes, as it happens, until it is interrupted', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet', '--id', 'before'])
    const tail = place.start(['tail'])
    // A tail shows only events after its start, so executions are submitted until it has started.
    for (let i = 0; i < TRIES_MAX && tail.stdout === ''; i++) await place.run(['submit', 'greet', '--id', `n${i}`])
    await tail.prints(/execution_created/)

    const ended = await tail.endBy('SIGINT')

    expect(ended.code).toBe(130)
    expect(ended.stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z execution_created +0-[0-9a-f-]{36} greet$/m)
    expect(ended.stderr).toMatch(/--cursor e2\.\w+/)
  })

  test('continues at a cursor without gaps or duplicates', async () => {
    const place = await workplace()
    for (const key of ['a', 'b', 'c']) await place.run(['submit', 'greet', '--id', key])
    const first = place.start(['tail', '--from-start', '--json'])
    await first.prints(/("execution_created".*\n[^]*){3}/)
    const seen = linesOf((await first.endBy('SIGTERM')).stdout)

    await place.run(['cancel', 'a'])
    const second = place.start(['tail', '--cursor', seen[1]!.cursor, '--json'])
    await second.prints(/execution_ended/)
    const rest = linesOf((await second.endBy('SIGTERM')).stdout)

    expect(seen.map((line) => line.event.type)).toEqual(Array(3).fill('execution_created'))
    expect(rest.map((line) => line.event.type)).toEqual(['execution_created', 'execution_ended'])
    expect(rest[0]).toEqual(seen[2])
  })

  test('of one execution and of one type leaves out the rest', async () => {
    const place = await workplace()
    for (const key of ['a', 'b']) await place.run(['submit', 'greet', '--id', key])
    for (const key of ['b', 'a']) await place.run(['cancel', key])

    const tail = place.start(['tail', 'a', '--from-start', '--type', 'execution_ended', '--json'])
    await tail.prints(/\n/)
    const ended = await tail.endBy('SIGTERM')

    expect(ended.code).toBe(143)
    const { id } = await place.json<{ id: string }>('show', 'a')
    expect(linesOf(ended.stdout)).toMatchObject([
      { kind: 'event', event: { type: 'execution_ended', executionId: id } },
    ])
  })

  test.each([
    ['an unknown type', ['--type', 'ended'], 'execution_ended'],
    ['a cursor that is none', ['--cursor', 'yesterday'], 'cursor'],
  ])('refuses %s with 2', async (_, args, named) => {
    const refused = await place().run(['tail', ...args, '--json'])

    expect(refused.code).toBe(2)
    expect(errorIn(refused).message).toContain(named)
  })
})
