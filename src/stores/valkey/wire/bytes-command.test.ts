import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { systemRuntime } from '../../../runtime/index.ts'
import { BytesCommand } from './bytes-command.ts'

const runtime = systemRuntime()
test('the commands of one turn go to the socket together', async () => {
  const writes: number[] = []
  const socket = new Writable({
    write: (_chunk, _encoding, done) => {
      writes.push(1)
      done()
    },
    writev: (chunks, done) => {
      writes.push(chunks.length)
      done()
    },
  })
  for (let i = 0; i < 3; i++) socket.write(new BytesCommand('PING', []).toWritable(socket))
  expect(writes).toEqual([])
  await nextTurn()
  socket.write(new BytesCommand('PING', []).toWritable(socket))
  await nextTurn()
  expect(writes).toEqual([3, 1])
})

function nextTurn(): Promise<void> {
  return new Promise((resolve) => runtime.soon(resolve))
}
