import { expect, test } from 'vitest'
import { newPrefix, locations } from '../valkey/fabrics.ts'
import { api } from '../../src/server/resources/api.ts'
import { callEveryRoute } from './all-routes.ts'
import { servedWhole } from './served.ts'

test('every route answers on a Valkey server as it does on SQLite', async () => {
  const found = await servedWhole(`${locations().valkey}?prefix=${newPrefix()}`)

  await callEveryRoute(found)

  expect(api.map(({ name }) => name).filter((name) => !found.succeeded.has(name))).toEqual([])
})
