import { expect, test } from 'vitest'
import { workplace } from './workplace.ts'

/** A program of a user that only waits, without a worker or an engine. */
function program(body: string): string {
  return `import { createFabric, task } from 'flowfabric'
const fabric = await createFabric('sqlite:./flowfabric.db')
${body}
await fabric.close()
`
}

test('a program that only waits for an execution stays alive until it ends', async () => {
  const place = await workplace()
  await place.install()
  await place.write(
    'waits.mjs',
    program(`const execution = await fabric.submit(task('greet'), {}, { id: 'hello' })
console.log('submitted')
console.log((await execution.wait()).outcome)`),
  )

  const waiting = place.startNode(['waits.mjs'])
  await waiting.prints(/submitted/)
  const cancelled = await place.run(['cancel', 'hello'])

  expect(cancelled.code).toBe(0)
  expect(await waiting.end()).toMatchObject({ code: 0, stdout: 'submitted\ncancelled\n' })
})

test('a program that only subscribes stays alive until it stops reading', async () => {
  const place = await workplace()
  await place.install()
  await place.write(
    'subscribes.mjs',
    program(`console.log('listening')
for await (const item of fabric.subscribe({ types: ['execution_ended'], fromStart: true })) {
  console.log(item.event.outcome)
  break
}`),
  )

  const listening = place.startNode(['subscribes.mjs'])
  await listening.prints(/listening/)
  await place.run(['submit', 'greet', '--id', 'hello'])
  await place.run(['cancel', 'hello'])

  expect(await listening.end()).toMatchObject({ code: 0, stdout: 'listening\ncancelled\n' })
})
