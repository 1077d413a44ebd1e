import { expect, test } from 'vitest'
import { errorIn, workplace } from './workplace.ts'

test('limits are set, changed, held back, shown and deleted', async () => {
  const place = await workplace()
  await place.run(['submit', 'greet'])

  const none = await place.run(['limits'])
  const set = await place.run(['limits', 'set', 'openai', '--per-minute', '400', '--concurrency', '50'])
  const changed = await place.run(['limits', 'set', 'openai', '--rate', '10/15s', '--reason', 'a trial'])
  const held = await place.run(['limits', 'hold', 'openai', '--key', 'acme', '--for', '5m', '--reason', 'an outage'])
  const listed = await place.run(['limits'])
  const shown = await place.run(['limits', 'show', 'openai'])
  const document = await place.json('limits', 'show', 'openai', '--key', 'acme')
  const lifted = await place.run(['limits', 'unhold', 'openai', '--key', 'acme'])
  const again = await place.run(['limits', 'unhold', 'openai', '--key', 'acme'])
  const deleted = await place.run(['limits', 'delete', 'openai'])

  expect([set, changed, held, lifted, again, deleted].map(({ stdout }) => stdout)).toEqual([
    'Limit openai is defined.\n',
    'Limit openai is changed.\n',
    'Key acme of limit openai is held for 5m.\n',
    'Key acme of limit openai is not held any more.\n',
    'Key acme of limit openai was not held.\n',
    'Limit openai is deleted.\n',
  ])
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'There are none.\n' })
  expect(listed.stdout.split('\n')[0]).toMatch(
    /^LIMIT +RATE +CONCURRENCY +BUSIEST KEY +USED +RUNNING +HELD BACK +CHANGED +BY$/,
  )
  expect(listed.stdout).toMatch(/^openai +10\/15s +- +acme +0\/10 +0 +\d+m .*by \S+ \(an outage\) +\d+\w+ ago/m)
  expect(shown.stdout).toMatch(/^openai 10\/15s for each key\n {2}changed \d+\w+ ago by \S+ \(a trial\)$/m)
  expect(shown.stdout).toMatch(/^ {2}acme +0\/10 +0 .*\(an outage\) +0 +in \d+m/m)
  expect(document).toMatchObject({
    name: 'openai',
    rate: { count: 10, windowMs: 15_000 },
    reason: 'a trial',
    keys: [{ key: 'acme', hold: { reason: 'an outage' } }],
    holders: [],
  })
})

test.each([
  [['limits', 'set', 'openai'], 'neither a rate nor a concurrency'],
  [['limits', 'set', 'openai', '--rate', '10'], 'such as 10/15s'],
  [['limits', 'set', 'openai', '--per-minute', 'many'], 'must be a whole number'],
  [['limits', 'hold', 'openai'], '--for'],
])('%j is refused with what to write instead', async (args, text) => {
  const place = await workplace()
  await place.run(['submit', 'greet'])

  const refused = await place.run([...args, '--json'])

  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(errorIn(refused).message).toContain(text)
})

test('a limit that does not exist is refused with its name', async () => {
  const place = await workplace()
  await place.run(['submit', 'greet'])

  const refused = await place.run(['limits', 'show', 'openai', '--json'])

  expect(refused.code).not.toBe(0)
  expect(errorIn(refused)).toMatchObject({ code: 'limit_not_found' })
})
