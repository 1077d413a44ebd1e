/**
 * Routing by capabilities: two machines serve the same tasks, and only one of them has a GPU. Thumbnails run anywhere, a film
 * needs the GPU and two slots of its worker, and one film must stay in Europe as well. A need that no worker has only waits: it delays
 * nothing behind it, and `why` names it.
 *
 *   npx node examples/gpu-routing.ts [location of a store]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createFabric, task } from '../src/index.ts'
import type { Handler } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const thumbnail = task<string, string>('thumbnail')
const film = task<string, string>('film', { needs: ['gpu'] })

/** The handlers of one machine, which name it in their results. */
function handlersOf(machine: string): Handler[] {
  return [
    thumbnail.handle(async (name) => {
      await sleep(5)
      return `${name} on ${machine}`
    }),
    film.handle({ slots: 2 }, async (name) => {
      await sleep(20)
      return `${name} on ${machine}`
    }),
  ]
}

await using opened = await openFabric()
const { fabric, location } = opened
await using elsewhere = await createFabric(location)

const stuck = await fabric.submit(film, 'secret film', { needs: ['vault'], priority: 9 })
const films = await Promise.all([
  fabric.submit(film, 'long film'),
  fabric.submit(film, 'european film', { needs: ['region:eu'] }),
])
const thumbnails = await Promise.all(['one', 'two', 'three'].map((name) => fabric.submit(thumbnail, name)))

await fabric
  .work(handlersOf('small'), { concurrency: 1, engine: false, lanes: ['default'] })
  .catch((error: unknown) => {
    console.log(`refused: ${error instanceof Error ? error.message : String(error)}`)
  })
await fabric.work(handlersOf('small'), { concurrency: 4 })
await elsewhere.work(handlersOf('large'), { concurrency: 4, capabilities: ['gpu', 'region:eu'] })

for (const execution of films) console.log(await execution.result())
console.log(`${(await Promise.all(thumbnails.map((execution) => execution.result()))).length} thumbnails`)
console.log(`secret film: ${(await stuck.why()).text.replace(/^.*(?=It needs)/s, '')}`)
await stuck.cancel('no machine has a vault')
