/** The room for buffered signals, attacked by holders of links who send as much as they may. */
import { expect, test } from 'vitest'
import {
  BUFFERED_SIGNAL_MAX,
  LINK_BUFFERED_MAX,
  SENDER_MAX,
  SENDER_SIGNAL_MAX,
  errorCatalogue,
} from '../../src/kernel/index.ts'
import type { TokenBinding } from '../../src/kernel/index.ts'
import { count } from './condition-nodes.ts'
import type { Held } from './given.ts'
import { conforms } from './harness.ts'
import { refusal } from './refusal.ts'

const FLOODER_COUNT = LINK_BUFFERED_MAX / SENDER_SIGNAL_MAX

conforms('holders of links who send all they may before a wait', ({ fabric, given, journal }) => {
  const by = (identity: string) => ({ type: 'token', identity }) as const
  const vote = (held: Held, token: TokenBinding, identity: string) =>
    journal.effect(held, 'gate', { token, name: 'approve', source: by(identity) })

  /** A waitpoint whose holders have sent as many signals as its buffer takes from them. */
  const flooded = async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'gate'))
    for (let i = 0; i < FLOODER_COUNT; i++) {
      const sent = Array.from({ length: SENDER_SIGNAL_MAX }, () =>
        journal.effect(held, 'gate', { token, name: 'noise', source: by(`flooder ${i}`) }),
      )
      expect(new Set(await Promise.all(sent))).toEqual(new Set(['buffered']))
    }
    return { held, token }
  }

  test('leave room for the votes of others, for programs and for mailboxes', async () => {
    const { held, token } = await flooded()

    expect(await vote(held, token, 'ada')).toBe('buffered')
    expect(await vote(held, token, 'bob')).toBe('buffered')
    expect(await journal.effect(held, 'gate', { name: 'approve', by: 'eve' })).toBe('buffered')
    expect(await journal.effect(held, '@paid', { name: 'paid' })).toBe('buffered')
    const quorum = count(3, ['gate'], { name: 'approve', by: 'sources', from: ['ada', 'bob', 'eve'] })
    expect(await journal.wait(held, { for: quorum, opens: [] })).toMatchObject({ kind: 'answered' })
  })

  test('are refused a second signal while the room is full, and may try again later', async () => {
    const { held, token } = await flooded()
    await vote(held, token, 'ada')

    expect(await refusal(fabric, () => journal.signal(held, 'gate', { token, source: by('ada') }))).toMatchObject({
      code: 'signal_buffer_full',
      detail: { limit: LINK_BUFFERED_MAX },
    })
    expect(errorCatalogue.signal_buffer_full.retry).toBe('later')
    const { waitpointId, generation, createdAt } = await journal.opened(held, 'second')
    const elsewhere = { token: { waitpointId, generation, openedAt: createdAt }, source: by('flooder 0') }
    expect(await journal.effect(held, 'second', elsewhere)).toBe('buffered')
    await journal.wait(held, { for: count(50, ['gate'], { name: 'noise' }), opens: [] })
  })

  test('who are as many as a waitpoint listens to all have their vote counted', async () => {
    const { held, token } = await flooded()
    for (let i = FLOODER_COUNT; i < SENDER_MAX; i++) expect(await vote(held, token, `voter ${i}`)).toBe('buffered')

    const all = count(100, ['gate'], { name: 'approve', by: 'sources' })
    expect(await journal.wait(held, { for: all, opens: [] })).toMatchObject({ kind: 'answered' })
  })

  test('find the buffer of a program full without taking the room of links', async () => {
    const held = await given.activeExecution()
    const token = journal.tokenOf(await journal.opened(held, 'gate'))
    await Promise.all(Array.from({ length: BUFFERED_SIGNAL_MAX }, () => journal.effect(held, 'gate')))

    expect((await refusal(fabric, () => journal.signal(held, 'gate'))).code).toBe('signal_buffer_full')
    expect(await vote(held, token, 'ada')).toBe('buffered')
    expect(await journal.effect(held, '@go')).toBe('buffered')
  })
})
