import path from 'node:path'
import { expect, test } from 'vitest'
import { startPostgres } from '../servers/postgres-server.ts'
import { root, workplace } from './workplace.ts'

const program = [path.join(root, 'examples/submit-in-transaction.ts')]

test('the program that submits inside its transactions ends by itself, and runs a second time', async () => {
  await using server = await startPostgres({ fsync: false })
  const place = await workplace()
  const env = { DATABASE_URL: server.location }

  const first = await place.startNode(program, { env }).end()
  const second = await place.startNode(program, { env }).end()

  expect(first.code).toBe(0)
  expect(first.stdout).toContain('A-17: the receipt for A-17 went to ada@example.com\n')
  expect(first.stdout).toMatch(/B-18: error: new row for relation "shop_order" violates check constraint/)
  expect(first.stdout).toContain('B-18: its receipt was never submitted\n')
  expect(second).toMatchObject({ code: 0, stdout: first.stdout })
})

test('without a database the error names the variable to set', async () => {
  const place = await workplace()

  const ended = await place.startNode(program).end()

  expect(ended.code).toBe(1)
  expect(ended.stderr).toContain('Set DATABASE_URL')
})
