import path from 'node:path'
import { expect, test } from 'vitest'
import { root, workplace } from './workplace.ts'

const DEMO_LIMIT_MS = 30_000

test('the demo shows each kind of life, sums up and exits with 0 in under half a minute', async () => {
  const place = await workplace()
  const startedAt = performance.now()

  const demo = await place.startNode([path.join(root, 'examples/demo.ts')]).end()

  expect(performance.now() - startedAt).toBeLessThan(DEMO_LIMIT_MS)
  expect(demo.code).toBe(0)
  expect(demo.stdout).toMatch(/report\.render +completed +1 /)
  expect(demo.stdout).toMatch(/card\.charge +completed +3 /)
  expect(demo.stdout).toMatch(/mail\.remind +completed +1 /)
  expect(demo.stdout).toMatch(/video\.encode +cancelled +1 /)
})

test('the first program exits, and a second run finds the result of the first', async () => {
  const place = await workplace()
  const program = [path.join(root, 'examples/first-program.ts')]

  const first = await place.startNode(program).end()
  const second = await place.startNode(program).end()

  expect(first.code).toBe(0)
  expect(first.stdout).toMatch(/receipt: 'A-17\//)
  expect(second).toMatchObject({ code: 0, stdout: first.stdout })
})

test.each<[name: string, texts: string[], states?: string[]]>([
  ['diamond', ['total: of 3 orders', 'report: 2026-10: 235.50 in all, most of it for a hive']],
  [
    'llm-race',
    [
      'small: done',
      'large: stopped after',
      'small says: How do bees find the way? Because bees dance.',
      'local: cancelled, not needed any more',
    ],
  ],
  ['quorum', ['the will is kept in bern, cairo, tokyo', 'the flow completed: 4 completed, 1 failed, 1 not needed']],
  [
    'release-train',
    [
      "flow_failed: The flow failed. Node 'browser' failed (permanent: the browser does not start).",
      '  notes: completed\n  staging: skipped\n',
      '4.2 is out\n  build: completed\n',
      '  live: completed\n  announce: completed\n',
    ],
  ],
  [
    'nightly-import',
    [
      'orders.csv: the flow completed\n  report: load completed, merge skipped (condition), publish completed\n',
      '  results: release, report\n',
      'broken.csv: the flow failed\n  report: load failed (permanent), merge skipped',
      '  release: disk-7 is free again\n',
    ],
    ['failed', 'completed'],
  ],
])(
  'the example %s prints its results and exits, also on a given store',
  async (name, texts, states = ['completed']) => {
    const place = await workplace()
    const program = path.join(root, `examples/${name}.ts`)

    const alone = await place.startNode([program]).end()
    const given = await place.startNode([program, 'sqlite:./given.db']).end()

    for (const { code, stdout, stderr } of [alone, given]) {
      expect(stderr).not.toContain('Error')
      expect(code).toBe(0)
      for (const text of texts) expect(stdout).toContain(text)
    }
    expect(await place.json('flow', 'list', '--store', 'sqlite:./given.db')).toMatchObject({
      items: states.map((state) => ({ state })),
    })
  },
)

test.each([
  [
    'deploy-approval',
    [
      '4.2: ada says approve: counted\n4.2: ada says approve: counted_before\n4.2: ada as bob says approve: invalid_token\n',
      '4.2 is rolled out\n4.2 is live, thanks to ada (approve), bob (approve)\n4.2: eve says reject: waitpoint_closed\n',
      '4.3 stays out: rejected by ada (approve), eve (reject)\n4.4 stays out: timed_out\n',
    ],
  ],
  [
    'payment-callback',
    [
      'callback: refused, invalid_token\ncallback: delivered, buffered\ncallback: duplicate, buffered\n',
      'A-17 is paid with p-1: 1999 cents',
    ],
  ],
  [
    'gpu-routing',
    [
      "refused: The input is not valid. slots of task 'film' is 2, but the worker has a concurrency of 1",
      'long film on large\neuropean film on large\n3 thumbnails\n',
      'secret film: It needs gpu, vault: only workers with these capabilities can take it.\n',
    ],
  ],
  [
    'tenant-fairness',
    [
      'the small tenant was served within the first half of 102 reports\nlane reports is paused by ada, with 1 waiting\n',
      'was paused by ada (the provider is down): it starts after "flowfabric lanes resume reports".',
      '\nsmall 3\n',
    ],
  ],
  [
    'shared-rate-limit',
    [
      '12 calls of three tasks, never more than 2 at once\nada allows 6 at once: a larger plan; not more were running\n',
      "the limit 'crm': ada holds it back for ten minutes (the provider is down)\nlater\n",
    ],
  ],
  [
    'token-budget',
    [
      'a summary for bees\n2.53 dollars are spent by all tenants\nthe first question is for the large model\n',
      "budget 'agents' of 'the agent' has spent 500 and reserved 0 of 1000 tokens, and 1200 are asked for. An approval adds 700 tokens unless it names other amounts.\nthe research is done\n",
    ],
  ],
  ['billing-consumer', ['charged 500 cents at try 2\nwithout a process, events wait\n', '3 orders are charged']],
  ['webhooks', ['the receiver is down\n', 'received: shop.order completed\n', '2 deliveries, tries: 1, 2']],
  ['live-progress', ['#######... 75 % 150 of 200 rows\n########## 100 % 200 of 200 rows\n200 rows']],
  [
    'debounced-index',
    ['saves: created, replaced, replaced, replaced\nindexed "bees"\nbalance after each booking: 10, 30, 60'],
  ],
  ['nightly-report', ['It fires next at ', 'a report at ', 'by hand: report of all\nnights made up for: 2']],
  ['crawl', ['5 pages: / /bees /bees/dance /honey /sources', 'the crawler has 5 children']],
  [
    'report',
    [
      'Bern: read for acme\n',
      '2026-10: 2640 dollars by rate:fast; missing: Oslo does not answer\n',
      'sales:Oslo: failed\nrate:fast: completed\nrate:slow: cancelled\n',
    ],
  ],
  [
    'saga',
    [
      '  the trip to Rome is booked\n',
      "  hotel: booked\n  hotel: cancelled\n  flight: cancelled\n  Child 'book car' (task 'office.book', ",
      ') failed (permanent): no cars in Venice\n',
      '  car: cancelled\n  hotel: cancelled\n  flight: cancelled\n  cancelled\n',
    ],
  ],
])('the example %s waits, resumes and exits, also on a given store', async (name, texts) => {
  const place = await workplace()
  const program = path.join(root, `examples/${name}.ts`)

  const alone = await place.startNode([program]).end()
  const given = await place.startNode([program, 'sqlite:./given.db']).end()

  for (const { code, stdout, stderr } of [alone, given]) {
    expect(stderr).not.toContain('Error')
    expect(code).toBe(0)
    for (const text of texts) expect(stdout).toContain(text)
  }
})

test('the example over-http submits, follows and waits over HTTP', async () => {
  const place = await workplace()

  const run = await place.startNode([path.join(root, 'examples/over-http.ts')]).end()

  expect(run).toMatchObject({ code: 0, stderr: '' })
  expect(run.stdout).toMatch(/event: execution_ended\nevent: end\nresult: 12 EUR charged\n$/)
})

test('the example chat continues a reply after a reload', async () => {
  const place = await workplace()

  const run = await place.startNode([path.join(root, 'examples/chat.ts')]).end()

  expect(run).toMatchObject({ code: 0, stderr: '' })
  expect(run.stdout).toBe(
    'before the reload: You asked: How do bees find the …\n' +
      'after the reload: You asked: How do bees find the way? Bees find the way by the sun.\n' +
      'messages: user, assistant\n',
  )
})

test('the example agent resumes in another process and repeats no recorded step', async () => {
  const place = await workplace()

  const { code, stdout, stderr } = await place.startNode([path.join(root, 'examples/agent.ts')]).end()

  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toContain("behind the call 'search'")
  expect(stdout.match(/asks the (planner|searcher)/g)).toEqual(['asks the planner', 'asks the searcher'])
  expect(new Set(stdout.match(/process \d+ asks/g)).size).toBe(2)
  expect(stdout).toContain('reviewer on (writer on (searcher on (planner on (How do bees find the way?))))')
})

test('the reader of the example streaming agent sees no gap and no repetition when its worker is killed', async () => {
  const place = await workplace()

  const { code, stdout, stderr } = await place.startNode([path.join(root, 'examples/streaming-agent.ts')]).end()

  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toMatch(/\[attempt 1\][^]*\[killed process \d+\]\n\[attempt 2\] Bees dance\./)
  expect(stdout).toMatch(/\d+ frames, without a gap and none twice\nthe last attempt is the result\n/)
  expect(stdout).toMatch(/from the middle there are \d+ more, as expected: true\n/)
  expect(stdout).toContain('"stage":"writing","words":41')
})

test('the recipes for tests run in the test runner of Node', async () => {
  const place = await workplace()

  const { code, stdout } = await place.startNode(['--test', path.join(root, 'examples/test-recipes.ts')]).end()

  expect(stdout).toMatch(/pass 5\n/)
  expect(code).toBe(0)
})

test('the example encrypted orders reads its values after a rotation, and not without the key', async () => {
  const place = await workplace()

  const { code, stdout, stderr } = await place.startNode([path.join(root, 'examples/encrypted-orders.ts')]).end()

  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain("after a rotation: { receipt: 'o-1 is paid with the card that ends in 1234' }")
  expect(stdout).toContain('without the key: {"sealed":"value_sealed"}')
})
