import { expect, test } from 'vitest'
import { migrateStore } from '../../src/index.ts'
import { newPlace } from '../postgres/places.ts'
import { api } from '../../src/server/resources/api.ts'
import { callEveryRoute } from './all-routes.ts'
import { servedWhole } from './served.ts'

test('every route answers on PostgreSQL as it does on SQLite', async () => {
  const { location } = newPlace('postgres')
  await migrateStore(location)
  const found = await servedWhole(location)

  await callEveryRoute(found)

  expect(api.map(({ name }) => name).filter((name) => !found.succeeded.has(name))).toEqual([])
})
