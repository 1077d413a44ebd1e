/** Texts that PostgreSQL cannot hold as they are: the engine gets them back whole, a person sees a sign in their place. */
import { describe, expect, test } from 'vitest'
import { FAILURE_MESSAGE_BYTES } from '../../src/kernel/index.ts'
import { PARTITION, call, claim, run, submit } from '../../src/stores/store.fixture.ts'
import { versions } from './places.ts'
import { newStore } from './store-place.ts'

const messages = [
  ['a zero byte', 'zero \u0000 byte', 'zero \u2400 byte'],
  ['half of a pair', 'half \ud83d', 'half \ufffd'],
  ['the other half', '\udc1d half', '\ufffd half'],
  ['quotes and backslashes', `{"a\\"b",'c'}, \\u0000`, `{"a\\"b",'c'}, \\u0000`],
  ['several lines in any script', 'größer\n進捗\t🐝', 'größer\n進捗\t🐝'],
  ['nothing', '', ''],
  ['the word for nothing', 'null', 'null'],
  ['as much as there may be', 'ü'.repeat(FAILURE_MESSAGE_BYTES / 2), 'ü'.repeat(FAILURE_MESSAGE_BYTES / 2)],
] as const

describe.each(versions)('on %s, the message of a failure with', (version) => {
  test.each(messages)('%s', async (_, message, shown) => {
    const { store, query } = await newStore(version)
    const executionId = await submit(store)
    const { executions } = await run(store, 'claimForWorker', claim())
    const failure = { category: 'odd', message, stack: message }

    await run(store, 'failExecution', { ...executions[0]!, failure, seed: 1 })

    const described = await run(store, 'describeExecution', { executionId, attempts: true })
    expect(described).toMatchObject({ execution: { failure: { message, stack: message } } })
    expect(await query('select failure_message from execution')).toEqual([{ failure_message: shown }])
  })
})

test.each(versions)('on %s, tags are found by whatever text they have', async (version) => {
  const { store } = await newStore(version, 'partitions=1', { indexedTags: ['team'] })
  const values = ['', 'null', '{a,b}', '"', '\\', 'grün', '🐝', '\u{10ffff}', '\u{10ffff}0', '\u{10ffff}1']
  const ids = new Map<string, string>()
  for (const value of values) ids.set(value, await submit(store, { tags: [{ name: 'team', value, indexed: true }] }))

  for (const value of values) {
    const tag = { name: 'team', value, indexed: true }
    const [answer] = await store.run(PARTITION, [call('listExecutions', { tag, limit: 10 })])
    expect(answer).toMatchObject({ result: { executions: [{ id: ids.get(value) }] } })
  }
})
