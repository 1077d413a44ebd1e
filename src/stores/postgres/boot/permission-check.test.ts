import { expect, test } from 'vitest'
import type { EngineError } from '../../../kernel/engine-error.ts'
import { checkPermissions, grantsFor } from './permission-check.ts'
import type { Row, Session } from '../wire/session.ts'

/** A server on which the user may use the schema or not, and lacks these privileges. */
function server(mayUse: boolean, denied: readonly Row[]): Session {
  return { query: async (text) => (text.includes('has_schema_privilege') ? [{ may_use: mayUse }] : denied) }
}

async function refusalOf(session: Session): Promise<EngineError> {
  return await checkPermissions(session, 'mine').then(
    () => expect.fail('the user was accepted'),
    (error: unknown) => error as EngineError,
  )
}

test('a user who lacks nothing is accepted', async () => {
  await expect(checkPermissions(server(true, []), 'mine')).resolves.toBeUndefined()
})

test('privileges that only the first user needs, or no user, need not be granted', async () => {
  const denied = [
    { table: 'meta', privilege: 'insert' },
    { table: 'meta', privilege: 'update' },
    { table: 'meta', privilege: 'delete' },
    { table: 'partition', privilege: 'delete' },
  ]

  await expect(checkPermissions(server(true, denied), 'mine')).resolves.toBeUndefined()
})

test.each<[boolean, Row[], string]>([
  [false, [], 'usage of the schema mine'],
  [true, [{ table: 'meta', privilege: 'select' }], 'select on meta'],
  [true, [{ table: 'partition', privilege: 'update' }], 'update on partition'],
  [
    true,
    [
      { table: 'entry', privilege: 'delete' },
      { table: 'meta', privilege: 'insert' },
      { table: 'event_batch', privilege: 'insert' },
    ],
    'needs: delete on entry, insert on event_batch. Let the owner run',
  ],
])(
  'who may use the schema (%s) and lacks %j is refused with all of it and with what to grant',
  async (mayUse, denied, part) => {
    const error = await refusalOf(server(mayUse, denied))

    expect([error.code, error.detail.field]).toEqual(['invalid_configuration', 'location'])
    expect(error.message).toContain(part)
    expect(error.message).toContain(grantsFor('mine'))
  },
)
