import path from 'node:path'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { KeyRing } from '../../src/client/index.ts'
import { createFabric } from '../../src/fabric/fabric.ts'
import { createHandler } from '../../src/server/handler.ts'
import { serve } from '../../src/server/node/http-server.ts'
import { api } from '../../src/server/resources/api.ts'
import { callEveryRoute } from './all-routes.ts'
import { Served, stopServed } from './served.ts'

/** A fabric with an engine that the server shows, and keys of its own. */
async function whole(location: string): Promise<Served> {
  const fabric = await createFabric(location, { log: 'silent', keys: KeyRing.begin(Date.now()), indexedTags: ['plan'] })
  const handler = createHandler(fabric, { engine: fabric.engine() })
  const found = new Served(fabric, await serve({ handler, runtime: fabric.runtime, port: 0 }))
  onTestFinished(() => stopServed(found))
  return found
}

test('every route answers with what its schema says', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-http-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const found = await whole(`sqlite:${folder}/fabric.db`)

  await callEveryRoute(found)

  expect(api.map(({ name }) => name).filter((name) => !found.succeeded.has(name))).toEqual([])
})
