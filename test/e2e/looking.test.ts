import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { PermanentError, allOf, createFabric, flow, task, upstream } from '../../src/index.ts'
import { errorIn, sharedWorkplace, workplace } from './workplace.ts'
import type { Workplace } from './workplace.ts'

interface Item {
  readonly id: string
  readonly key?: string
  readonly state: string
  readonly createdAt: number
}

interface Page {
  readonly items: readonly Item[]
  readonly cursor?: string
}

/** Five executions in two lanes and two namespaces. */
async function stock(place: Workplace): Promise<void> {
  await place.run(['submit', 'greet', '{"secret":"hush"}', '--id', 'one', '--tag', 'plan=pro'])
  await place.run(['submit', 'greet', '--id', 'two', '--delay', '1h'])
  await place.run(['submit', 'report', '--id', 'three', '--lane', 'slow'])
  await place.run(['submit', 'report', '--id', 'four', '--namespace', 'tenant'])
  await place.run(['submit', 'greet', '--id', 'five'])
  await place.run(['cancel', 'five', '--reason', 'a try'])
}

const stocked = sharedWorkplace(stock)

/** Removes the delayed execution from the index of due records. */
function removeAnIndexEntry(place: Workplace): void {
  const database = new DatabaseSync(place.path('flowfabric.db'))
  database.exec(`delete from entry where name = 'due'`)
  database.close()
}

function keysOf(page: Page): (string | undefined)[] {
  return page.items.map((item) => item.key)
}

describe('list', () => {
  test('shows an aligned table, newest first', async () => {
    const place = stocked()

    const { code, stdout } = await place.run(['list'])

    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(6)
    expect(lines[0]).toMatch(/^ID +TASK +LANE +STATE +ATTEMPT +CREATED +KEY$/)
    expect(lines[1]).toMatch(/^0-[0-9a-f-]{36} +greet +default +cancelled +0 +\d{4}-\d\d-\d\dT[\d:.]+Z +five$/)
    const column = lines[0]!.indexOf('KEY')
    expect(lines.slice(1).map((line) => line.slice(column))).toEqual(['five', 'four', 'three', 'two', 'one'])
  })

  test('finds an id of another namespace unless --namespace names one', async () => {
    const place = stocked()
    const [found] = (await place.json<Page>('list', '--namespace', 'tenant')).items
    const id = found!.id

    expect(await place.json('show', id)).toMatchObject({ namespace: 'tenant' })
    for (const command of [
      ['show', id],
      ['why', id],
      ['cancel', id],
      ['signal', id, 'go'],
      ['steps', id],
    ]) {
      const refused = await place.run([...command, '--namespace', 'other'])
      expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('execution_not_found') as string })
    }
  })

  test('shows the error of each execution if all of them failed', async () => {
    const place = await workplace()
    const failing = task('failing')
    {
      await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent' })
      await using _worker = await fabric.work([
        failing.handle(() => {
          throw new PermanentError('no such account\nsee the log')
        }),
      ])
      await (await fabric.submit(failing, 1, { id: 'one' })).wait()
    }

    const { stdout } = await place.run(['list', '--state', 'failed'])

    const [header, line] = stdout.split('\n')
    expect(header).toMatch(/ KEY +ERROR$/)
    expect(line).toMatch(/ one +permanent: no such account/)
  })

  test('of a parent shows its children by their names, and show and why of the parent name the one that failed', async () => {
    const place = await workplace()
    const order = task('order')
    const ship = task<string>('ship')
    {
      await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent' })
      await using _worker = await fabric.work([
        order.handle((_, ctx) => ctx.all(['honey', 'wax'].map((item) => ctx.spawn(`ship:${item}`, ship, item)))),
        ship.handle((item) => {
          if (item === 'wax') throw new PermanentError('no truck')
        }),
      ])
      await (await fabric.submit(order, null, { id: 'order:1' })).wait()
      await (await fabric.submit(order, null, { id: 'order:2' })).wait()
    }

    const listed = await place.run(['list', '--parent', 'order:1'])
    const first = await place.json<Page>('list', '--parent', 'order:1', '--limit', '1')
    const rest = await place.json<Page>('list', '--parent', 'order:1', '--cursor', first.cursor ?? '')
    const shown = await place.run(['show', 'order:1'])
    const why = await place.run(['why', 'order:1'])
    const unknown = await place.run(['list', '--parent', 'order:3'])

    const [header, honey, wax] = listed.stdout.split('\n')
    expect(header).toMatch(/ CREATED +NAME$/)
    expect(honey).toMatch(/ ship +default +completed .* ship:honey$/)
    expect(wax).toMatch(/ ship +default +failed .* ship:wax$/)
    expect([...first.items, ...rest.items].map(({ state }) => state)).toEqual(['completed', 'failed'])
    expect(rest.cursor).toBeUndefined()
    const named = `Child 'ship:wax' (task 'ship', ${rest.items[0]?.id ?? ''}) failed (permanent): no truck`
    expect(shown.stdout).toContain(`last error\n    permanent: ${named}\n`)
    expect(why.stdout).toContain(`failed (permanent: ${named}).`)
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('execution_not_found') as string })
  })

  test('filters by lane, task, state, tag, namespace and time', async () => {
    const place = stocked()

    const listed = async (...filter: string[]) => keysOf(await place.json('list', ...filter))

    await Promise.all([
      expect(listed('--lane', 'slow')).resolves.toEqual(['three']),
      expect(listed('--task', 'report')).resolves.toEqual(['four', 'three']),
      expect(listed('--state', 'delayed')).resolves.toEqual(['two']),
      expect(listed('--state', 'delayed', '--state', 'cancelled')).resolves.toEqual(['five', 'two']),
      expect(listed('--ended-since', '1h', '--key-prefix', 'fi')).resolves.toEqual(['five']),
      expect(listed('--state', 'cancelled', '--lane', 'default')).resolves.toEqual(['five']),
      expect(listed('--tag', 'plan=pro')).resolves.toEqual(['one']),
      expect(listed('--namespace', 'tenant')).resolves.toEqual(['four']),
      expect(listed('--since', '1h')).resolves.toHaveLength(5),
      expect(listed('--since', '2999-01-01')).resolves.toEqual([]),
    ])
  })

  test('groups failures, and changes what a filter finds', async () => {
    const place = await workplace()
    for (const id of ['one', 'two', 'three']) await place.run(['submit', 'greet', '--id', id])
    const filter = ['--task', 'greet', '--state', 'waiting']

    const none = await place.run(['failures'])
    const dry = await place.run(['bulk', 'cancel', '--reason', 'outdated', ...filter, '--dry-run'])
    const tagged = await place.run(['bulk', 'tag', '--set', 'plan=pro', ...filter, '--key-prefix', 'o'])
    const cancelled = await place.json('bulk', 'cancel', '--reason', 'outdated', ...filter)
    const everything = await place.run(['bulk', 'replay'])

    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'There are none.\n' })
    expect(dry.stdout).toMatch(/^3 would be changed; the newest are:\n\S+ greet waiting three\n/)
    expect(tagged).toMatchObject({
      stdout: '1 of 1 changed.\n',
      stderr: expect.stringMatching(/^The change runs as .+\n$/) as string,
    })
    expect(cancelled).toMatchObject({ examined: 3, changed: 3, refused: {}, isCut: false })
    expect(everything).toMatchObject({ code: 2, stderr: expect.stringContaining('at least one attribute') as string })
    expect(keysOf(await place.json('list', '--tag', 'plan=pro', '--state', 'cancelled'))).toEqual(['one'])
  })

  test('continues at the cursor of the previous page', async () => {
    const place = stocked()
    const keys: (string | undefined)[] = []
    let cursor: string[] = []
    do {
      const page: Page = await place.json('list', '--limit', '2', ...cursor)
      expect(page.items.length).toBeLessThanOrEqual(2)
      keys.push(...keysOf(page))
      cursor = page.cursor === undefined ? [] : ['--cursor', page.cursor]
    } while (cursor.length > 0)
    expect(keys).toEqual(['five', 'four', 'three', 'two', 'one'])

    const text = await place.run(['list', '--limit', '2'])
    expect(text.stderr).toMatch(/--cursor l1\./)
  })

  test('instants are numbers', async () => {
    const place = stocked()
    const page = await place.json<Page>('list', '--limit', '1')
    expect(page.items[0]?.createdAt).toBeGreaterThan(1_700_000_000_000)
  })

  test.each([
    ['an unknown state', ['--state', 'done'], 'completed'],
    ['a tag without a value', ['--tag', 'plan'], '--tag'],
    ['a limit over the limit', ['--limit', '201'], '200'],
    ['a time that is none', ['--since', 'yesterday'], '--since'],
    ['a cursor of another list', ['--cursor', 'e1.0'], 'cursor'],
  ])('refuses %s with 2', async (_, args, named) => {
    const refused = await stocked().run(['list', ...args, '--json'])

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(errorIn(refused).message).toContain(named)
  })
})

describe('flow show', () => {
  test('distinguishes failures that the flow ignores from those that make it fail', async () => {
    const place = await workplace()
    const check = task<string>('check')
    const build = task('build')
    const release = flow('release', (f) => {
      const lint = f.node('lint', check, { input: 'lint' })
      f.node('build', build, { input: null, after: allOf({ lint: upstream(lint, { onFailure: 'ignore' }) }) })
    })
    const broken = flow('broken', (f) => {
      const lint = f.node('lint', check, { input: 'lint' })
      f.node('build', build, { input: null, after: allOf({ lint: upstream(lint, { onFailure: 'ignore' }) }) })
      f.node('test', check, { input: 'test' })
    })
    {
      await using fabric = await createFabric(`sqlite:${place.path('flowfabric.db')}`, { log: 'silent' })
      await using _worker = await fabric.work([
        check.handle((name) => {
          throw new PermanentError(`${name} is unhappy`)
        }),
        build.handle(() => undefined),
      ])
      await (await fabric.submit(release, null, { id: 'release:1' })).wait()
      await (await fabric.submit(broken, null, { id: 'broken:1' })).wait()
    }

    const completed = await place.run(['flow', 'show', 'release:1'])
    const failed = await place.run(['flow', 'show', 'broken:1'])
    const why = await place.run(['why', 'broken:1'])

    expect(completed.stdout).toMatch(/ release completed\n/)
    expect(completed.stdout).toMatch(/\n +ignored +lint \(0-\S+\): permanent: lint is unhappy\n/)
    expect(completed.stdout).toMatch(/✗ lint +failed .* ignored: permanent: lint is unhappy\n/)
    expect(failed.stdout).toMatch(/\n +failed +test \(0-\S+\): .*\n +ignored +lint \(0-\S+\): /)
    expect(why.stdout).toMatch(
      /\ntest \(\S+\): permanent: test is unhappy\nlint \(\S+\): .* \(ignored by the flow\)\n$/,
    )
  })
})

describe('show', () => {
  test('prints every field, with times in UTC and relative to now', async () => {
    const place = stocked()

    const { code, stdout } = await place.run(['show', 'five'])

    expect(code).toBe(0)
    expect(stdout).toMatch(/^0-[0-9a-f-]{36} greet cancelled\n/)
    expect(stdout).toMatch(/created +\d{4}-\d\d-\d\dT[\d:.]+Z \(.* ago\)/)
    expect(stdout).toMatch(/kept until +\d{4}-\d\d-\d\dT[\d:.]+Z \(in .*\)/)
    expect(stdout).toMatch(/reason +a try/)
    expect(stdout).toMatch(/by +cli/)
  })

  test('keeps input and result back unless they are asked for', async () => {
    const place = stocked()

    const [without, withPayload, document] = await Promise.all([
      place.run(['show', 'one']),
      place.run(['show', 'one', '--payload']),
      place.run(['show', 'one', '--json']),
    ])

    expect(without.stdout).not.toContain('hush')
    expect(without.stdout).toContain('17 bytes of json')
    expect(withPayload.stdout).toContain('hush')
    expect(document.stdout).not.toContain('hush')
    expect(JSON.parse(document.stdout)).toMatchObject({ key: 'one', state: 'waiting', inputSize: 17, attempts: [] })
  })
})

describe('why', () => {
  test('answers in a sentence, and with the facts', async () => {
    const place = stocked()

    const [waiting, delayed] = await Promise.all([
      place.run(['why', 'one']),
      place.json<{ explanation: { why: string }; text: string }>('why', 'two'),
    ])

    expect(waiting).toMatchObject({ code: 0, stderr: '' })
    expect(waiting.stdout).toContain("No live worker serves task 'greet' in lane 'default'")
    expect(delayed.explanation.why).toBe('delayed')
    expect(delayed.text).toContain('delay')
  })
})

describe('lanes', () => {
  test('counts what each lane has in each state', async () => {
    const place = stocked()

    const [text, document] = await Promise.all([place.run(['lanes']), place.json('lanes', 'slow')])

    expect(text.code).toBe(0)
    expect(text.stdout.split('\n')[0]).toMatch(/^LANE +WAITING +DELAYED +CANCELLED +WAITING FOR +TASKS$/)
    expect(text.stdout).toMatch(/^default +2 +1 +1 +\S.* +greet, report$/m)
    expect(document).toEqual({
      items: [
        {
          lane: 'slow',
          tasks: ['report'],
          counts: { waiting: 1 },
          waitingSince: expect.any(Number) as number,
          state: 'active',
          heldTasks: [],
          otherLimits: [],
        },
      ],
    })
  })

  test('pauses, weighs, limits and resumes a lane, and shows who holds it', async () => {
    const place = stocked()

    const paused = await place.run(['lanes', 'pause', 'slow', '--reason', 'an incident'])
    const task = await place.run(['lanes', 'drain', 'default', '--task', 'greet'])
    const weighed = await place.run(['lanes', 'weigh', 'slow', '2'])
    const limited = await place.run(['lanes', 'limit', 'slow', '--concurrency', '2', '--rate', '10/15s'])
    const shown = await place.run(['lanes', '--rates'])
    const unlimited = await place.run(['lanes', 'unlimit', 'slow'])
    const unclear = await place.run(['lanes', 'limit', 'slow'])
    const refused = await place.run(['submit', 'greet', '{}'])
    const resumed = await place.json('lanes', 'resume', 'slow')

    expect([paused, task, weighed, limited, unlimited].map(({ stdout }) => stdout)).toEqual([
      'Lane slow is paused.\n',
      'Task greet of lane default is draining.\n',
      'Lane slow has weight 2.\n',
      'Lane slow is limited to 10/15s, 2 at once.\n',
      'Lane slow has no limit.\n',
    ])
    expect(shown.stdout).toMatch(/^slow .* paused by \S+ \(an incident\) +report$/m)
    expect(shown.stdout.split('\n')[0]).toMatch(/IN\/MIN +OUT\/MIN +WEIGHT +LIMIT +HELD/)
    expect(unclear.stderr).toContain('neither a rate nor a concurrency')
    expect(refused.stderr).toContain('is being drained and accepts no new work')
    expect(resumed).toMatchObject({ lane: 'slow', state: 'active', weight: 2 })
    expect(resumed).not.toHaveProperty('limit')
  })
})

describe('doctor', () => {
  test('finds a good store healthy and writes nothing', async () => {
    const place = stocked()

    const [text, document] = await Promise.all([place.run(['doctor']), place.json('doctor')])

    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toContain('Nothing is wrong.')
    expect(text.stdout).toMatch(/^durability +\S/m)
    expect(document).toMatchObject({
      healthy: true,
      store: { kind: 'sqlite', warnings: expect.any(Array) as unknown },
      settings: { executionPartitions: 1, limitPartitions: 1, indexedTags: [] },
      partitions: [
        { partition: 'fp:0', executions: 5, due: { count: 0 }, purge: { count: 0 }, events: { first: 1, last: 6 } },
      ],
    })
  })

  test('finds overdue timers, and exits with 1', async () => {
    const place = await workplace()
    await place.run(['submit', 'greet', '--deadline', '1ms'])
    // The clock of the second command is ahead, so that the test need not wait until the timer is late.
    const ahead = `data:text/javascript,const now=Date.now;Date.now=()=>now()+60_000`

    const found = await place.run(['doctor', '--json'], { nodeOptions: ['--import', ahead] })

    expect(found.code).toBe(1)
    expect(JSON.parse(found.stdout)).toMatchObject({ healthy: false, partitions: [{ due: { count: 1 } }] })
    expect((await place.run(['doctor'], { nodeOptions: ['--import', ahead] })).stdout).toContain('Something is wrong.')
  })

  test('finds an index that contradicts its records, and repairs it with --repair', async () => {
    const place = await workplace()
    await stock(place)
    removeAnIndexEntry(place)

    const found = await place.run(['doctor', '--json'])
    const repaired = await place.run(['doctor', '--repair', '--json'])
    const again = await place.run(['doctor', '--json'])

    expect(found.code).toBe(1)
    expect(JSON.parse(found.stdout)).toMatchObject({ partitions: [{ indexes: { kind: 'proven', problemCount: 1 } }] })
    expect(repaired.code).toBe(0)
    expect(JSON.parse(repaired.stdout)).toMatchObject({
      partitions: [{ indexes: { kind: 'repaired', problemCount: 1 } }],
    })
    expect(again.code).toBe(0)
  })
})

test('tables that were changed are a problem for doctor, and migrate --check says what to do', async () => {
  const place = await workplace()
  await stock(place)
  const asMade = await place.run(['migrate', '--check'])
  const database = new DatabaseSync(place.path('flowfabric.db'))
  database.exec('alter table queue drop column class; alter table queue add column colour text')
  database.close()

  const doctor = await place.run(['doctor', '--json'])
  const text = await place.run(['migrate', '--check'])
  const document = await place.run(['migrate', '--check', '--json'])
  const contradictory = await place.run(['migrate', '--check', '--dry-run'])

  expect(asMade).toMatchObject({ code: 0, stderr: '' })
  expect(asMade.stdout).toMatch(/^The tables are those that the migrations make, up to schema version \d+\.\n$/)
  expect(doctor.code).toBe(1)
  const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; verdict: string; text: string }[] }
  expect(findings.find(({ check }) => check === 'tables')).toMatchObject({
    verdict: 'problem',
    text: expect.stringContaining('missing column queue.class, unexpected column queue.colour') as unknown,
  })
  expect(text.code).toBe(1)
  expect(text.stdout).toContain(
    'missing column queue.class\n  expected: text not null\n  Restore the store from a backup',
  )
  expect(text.stdout).toContain('unexpected column queue.colour\n  found:    text\n  Drop it: it can make writes fail.')
  expect(document.code).toBe(1)
  expect(JSON.parse(document.stdout)).toMatchObject({ kind: 'different', differences: { length: 2 } })
  expect(contradictory.code).toBe(2)
})

describe('an execution that does not exist', () => {
  test.each([['show'], ['why'], ['cancel'], ['replay'], ['tail']])('exits %s with 3', async (command) => {
    const [byKey, byId] = await Promise.all([
      stocked().run([command, 'no-such-key', '--json']),
      stocked().run([command, '0-00000000-0000-7000-8000-000000000000']),
    ])

    expect(byKey).toMatchObject({ code: 3, stdout: '' })
    expect(errorIn(byKey).code).toBe('execution_not_found')
    expect(byId.code).toBe(3)
    expect(byId.stderr).toContain('execution_not_found')
    expect(byId.stderr).toContain('Check the id')
  })
})
