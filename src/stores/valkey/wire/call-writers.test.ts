import { expect, test } from 'vitest'
import type { CallWriter, FunctionCall } from './call-writer.ts'
import { CallWriters } from './call-writers.ts'

function naming(name: string, more = '') {
  return (writer: CallWriter): FunctionCall => {
    writer.begin(name, [])
    writer.argument(more)
    return writer.finish()
  }
}

/** Sends nothing, and answers when the test resolves it. */
function heldBack() {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const calls: FunctionCall[] = []
  const send = (call: FunctionCall) => {
    calls.push(call)
    return promise
  }
  return { send, resolve, reject, text: () => calls.map(({ bytes }) => bytes.toString()).join() }
}

async function sendNow(writers: CallWriters, name: string, more?: string): Promise<ArrayBufferLike> {
  let buffer: ArrayBufferLike = new ArrayBuffer()
  await writers.send(naming(name, more), async ({ bytes }) => {
    buffer = bytes.buffer
  })
  return buffer
}

test('the bytes of a call stand as long as the call has no answer', async () => {
  const writers = new CallWriters()
  const first = heldBack()
  const sending = writers.send(naming('first'), first.send)
  const written = first.text()

  await sendNow(writers, 'second')
  await sendNow(writers, 'third')

  expect(first.text()).toBe(written)
  first.resolve(1)
  expect(await sending).toBe(1)
})

test('the bytes of a call that failed are never used again: they may still be about to be sent', async () => {
  const writers = new CallWriters()
  const first = heldBack()
  const sending = writers.send(naming('first'), first.send)
  const written = first.text()
  first.reject(new Error('no answer'))
  await expect(sending).rejects.toThrow('no answer')

  await sendNow(writers, 'second')

  expect(first.text()).toBe(written)
})

test('a buffer is used again, unless it has become large', async () => {
  const writers = new CallWriters()
  const large = 'x'.repeat(300_000)

  const [first, second] = [await sendNow(writers, 'a', 'x'.repeat(9_000)), await sendNow(writers, 'b')]
  const [third, fourth] = [await sendNow(writers, 'c', large), await sendNow(writers, 'd', 'x'.repeat(9_000))]

  expect(second).toBe(first)
  expect(fourth).not.toBe(third)
})
