import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { api } from '../../src/server/resources/api.ts'
import { callEveryRoute } from './all-routes.ts'
import { servedWhole } from './served.ts'

test('every route answers with what its schema says', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-http-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const found = await servedWhole(`sqlite:${folder}/fabric.db`)

  await callEveryRoute(found)

  expect(api.map(({ name }) => name).filter((name) => !found.succeeded.has(name))).toEqual([])
})
