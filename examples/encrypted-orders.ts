/**
 * Orders whose values are encrypted before they are stored. A program with the key reads them, also after a rotation. A program without
 * it, such as a dashboard, sees that they are sealed.
 *
 *   npx node examples/encrypted-orders.ts [location of a store]
 */
import { z } from 'zod'
import { createFabric, encryption, mintCodecKeys, rotateCodecKeys, task } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

const charge = task('charge', {
  input: z.object({ order: z.string(), card: z.string() }),
  output: z.object({ receipt: z.string() }),
})
const chargeHandler = charge.handle(async ({ order, card }, ctx) => {
  ctx.log.info({ order }, 'charging')
  return await ctx.step('charge', () => ({ receipt: `${order} is paid with the card that ends in ${card.slice(-4)}` }))
})

// A deployment keeps them in a file: encryption({ keys: '/run/secrets/codec-keys.json' }).
const keys = mintCodecKeys(Date.now())
await using opened = await openFabric({ codec: encryption({ keys }) })
const { fabric, location } = opened
await fabric.work([chargeHandler])
const execution = await fabric.submit(charge, { order: 'o-1', card: '4111 1111 1111 1234' })
console.log((await execution.result()).receipt)

await using rotated = await createFabric(location, { codec: encryption({ keys: rotateCodecKeys(keys, Date.now()) }) })
console.log('after a rotation:', await rotated.execution(execution.id).result())
await using without = await createFabric(location)
console.log('without the key:', JSON.stringify((await without.describe(execution.id, { payload: true })).input))
