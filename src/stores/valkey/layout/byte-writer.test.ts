import { expect, test } from 'vitest'
import { SEPARATOR } from '../../../kernel/index.ts'
import { ByteWriter } from './byte-writer.ts'
import { CallWriter } from '../wire/call-writer.ts'
import { putCell } from './put-value.ts'

const ID = '12-0190a6e0-5c2a-7b10-8f00-0123456789ab'

/** Each way to write, with a value of more than one byte. */
const writes: readonly (readonly [name: string, write: (writer: CallWriter) => void])[] = [
  ['a byte', (writer) => writer.byte(7)],
  ['Latin-1 text', (writer) => writer.bytes('Zürich')],
  ['a short name', (writer) => writer.shortName('x5:', `größer${SEPARATOR}${ID}`, 2)],
  ['a time', (writer) => writer.time(1_700_000_000_000)],
  ['a number', (writer) => writer.value(putCell, 2 ** 47)],
  ['a double', (writer) => writer.value(putCell, 0.1)],
  ['an id', (writer) => writer.value(putCell, ID)],
  ['a text value', (writer) => writer.value(putCell, 'größer')],
  ['a long text value', (writer) => writer.value(putCell, 'größer als nötig '.repeat(20))],
  [
    'a list',
    (writer) =>
      writer.value(
        putCell,
        Array.from({ length: 40 }, (_, i) => i * 1_000),
      ),
  ],
  ['a text argument', (writer) => writer.argument('größer')],
  ['a long text argument', (writer) => writer.argument('größer als nötig')],
  ['a name', (writer) => writer.name(Buffer.from('größer'), `als${SEPARATOR}${ID}`, 2)],
  ['a natural argument', (writer) => writer.argument(1_700_000_000_000)],
  ['a bytes argument', (writer) => writer.bytesArgument(Buffer.from('größer'))],
  ['a Latin-1 argument', (writer) => writer.latin1Argument('Zürich')],
  [
    'an opened argument',
    (writer) => {
      const at = writer.open()
      writer.time(1_700_000_000_000)
      writer.close(at)
    },
  ],
]

test.each(writes)('%s has the same bytes wherever the buffer is full', (_, write) => {
  const alone = new CallWriter()
  write(alone)
  const expected = alone.take().toString('latin1')

  const size = new ByteWriter().capacity
  for (let before = size - expected.length - 20; before <= size; before++) {
    const writer = new CallWriter()
    writer.bytes('x'.repeat(before))
    write(writer)

    expect(writer.take().toString('latin1')).toBe('x'.repeat(before) + expected)
  }
})
