/**
 * Records and events as bytes, in the form of `value-tags.ts`: the stored form of `codec.ts`, written from and read into
 * objects without lists between. An object is the list of its fields in the order of the schema, a union is the list of
 * its variant's number and fields, and a word is its number. Absent values at the end of an object are not written.
 *
 * A reader keeps the values behind the last field that its schema knows and writes them back. Fields that an older writer
 * did not know read as absent. Fields, words and variants may therefore be appended; `schema.lock.json` guards the rest.
 */
import { UNKNOWN_VALUES, blankOf, eventFields, fieldsOf, recordTypes } from '../../kernel/index.ts'
import type { AnyRecord, Cell, FabricEvent, Field, FieldKind, RecordType, RecordTypes } from '../../kernel/index.ts'
import { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { ABSENT } from './value-tags.ts'

export type StoredEvent = Omit<FabricEvent, 'at'>

type Values = Record<string, unknown>

/** How a value of one kind is written and read. The reader gets the tag of a value that is not absent. */
interface Form {
  readonly write: (writer: ByteWriter, value: unknown) => void
  readonly read: (reader: ByteReader, tag: number) => unknown
}

interface NamedForm extends Form {
  readonly name: string
}

/** The fields of an object or of a variant. */
interface Plan {
  readonly forms: readonly NamedForm[]
  /** Makes an object with every field and no values. */
  readonly create: () => Values
  /** A field of the object that is not written: the type of a record, the tag of a union, the time of an event. */
  readonly unwritten: string | undefined
}

type Copy = (values: Values) => Values

/**
 * Copies of an object. V8 remembers up to four object shapes for each spread in the source, and a spread that has met more
 * is about six times slower. So each plan takes the next of these, and a plan that shares one is slower but not wrong.
 */
const copies: readonly Copy[] = [
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
  (values) => ({ ...values }),
]

let copiesTaken = 0

function nextCopy(): Copy {
  return copies[copiesTaken++ % copies.length] as Copy
}

const textForm: Form = {
  write: (writer, value) => {
    writer.text(value as string)
  },
  read: (reader, tag) => reader.text(tag),
}

const numberForm: Form = {
  write: (writer, value) => {
    writer.number(value as number)
  },
  read: (reader, tag) => reader.number(tag),
}

const flagForm: Form = {
  write: (writer, value) => {
    writer.byte(value === true ? 1 : 0)
  },
  read: (_reader, tag) => {
    if (tag > 1) throw new RangeError(`A value with the tag 0x${tag.toString(16)} is not a flag.`)
    return tag === 1
  },
}

function wordForm(words: readonly string[]): Form {
  const numbers = new Map(words.map((word, number) => [word, number]))
  return {
    write: (writer, value) => {
      writer.number(numberOf(numbers, value))
    },
    read: (reader, tag) => {
      const number = reader.number(tag)
      const word = words[number]
      if (word === undefined) throw new RangeError(`There is no word with the number ${number} in ${words.join(', ')}.`)
      return word
    },
  }
}

function numberOf(numbers: ReadonlyMap<string, number>, word: unknown): number {
  const number = numbers.get(word as string)
  if (number === undefined) throw new RangeError(`${String(word)} is none of ${[...numbers.keys()].join(', ')}.`)
  return number
}

function listForm(item: Form): Form {
  return {
    write: (writer, value) => {
      const items = value as unknown[]
      writer.list(items.length)
      for (const one of items) item.write(writer, one)
    },
    read: (reader, tag) => {
      const count = reader.list(tag)
      const items: unknown[] = []
      for (let i = 0; i < count; i++) items.push(item.read(reader, reader.tag()))
      return items
    },
  }
}

function objectForm(plan: Plan): Form {
  return {
    write: (writer, value) => {
      writeFields(writer, plan, writer.openList(), 0, value as Values)
    },
    read: (reader, tag) => readFields(reader, plan, plan.create(), reader.list(tag)),
  }
}

function unionForm({ tag, variants }: Extract<FieldKind, { kind: 'union' }>): Form {
  const numbers = new Map(variants.map((variant, number) => [variant.word, number]))
  const plans = variants.map((variant) =>
    planOf(variant.fields, { [tag]: variant.word, ...blankWith(variant.fields) }, tag),
  )
  return {
    write: (writer, value) => {
      const number = numberOf(numbers, (value as Values)[tag])
      const start = writer.openList()
      writer.number(number)
      writeFields(writer, plans[number] as Plan, start, 1, value as Values)
    },
    read: (reader, listTag) => {
      const count = reader.list(listTag)
      const number = count === 0 ? -1 : reader.number(reader.tag())
      const plan = plans[number]
      if (plan === undefined) throw new RangeError(`There is no variant with the number ${number} of ${tag}.`)
      return readFields(reader, plan, plan.create(), count - 1)
    },
  }
}

function formOf(of: FieldKind): Form {
  switch (of.kind) {
    case 'text':
      return textForm
    case 'number':
      return numberForm
    case 'flag':
      return flagForm
    case 'word':
      return wordForm(of.words)
    case 'list':
      return listForm(formOf(of.of))
    case 'object':
      return objectForm(planOf(of.fields, blankWith(of.fields)))
    case 'union':
      return unionForm(of)
  }
}

function planOf(fields: readonly Field[], blank: object, unwritten?: string): Plan {
  const copy = nextCopy()
  return {
    forms: fields.map((field) => ({ name: field.name, ...formOf(field.of) })),
    create: () => copy(blank as Values),
    unwritten,
  }
}

function blankWith(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map((field) => [field.name, undefined]))
}

/** Writes the fields of an object into a list that has `before` values already. */
function writeFields(
  writer: ByteWriter,
  { forms, unwritten }: Plan,
  start: number,
  before: number,
  values: Values,
): void {
  let next = 0
  let count = before
  let end = writer.length
  // Most objects have their fields in the order of the schema. Looking at the fields as they come is several times faster
  // than finding each one by its name.
  for (const name in values) {
    if (name === unwritten) continue
    const form = forms[next]
    if (form?.name !== name) break
    const value = values[name]
    next++
    if (value === undefined) {
      writer.absent()
    } else {
      form.write(writer, value)
      count = before + next
      end = writer.length
    }
  }
  for (; next < forms.length; next++) {
    const form = forms[next] as NamedForm
    const value = values[form.name]
    if (value === undefined) {
      writer.absent()
    } else {
      form.write(writer, value)
      count = before + next + 1
      end = writer.length
    }
  }
  const unknown = values[UNKNOWN_VALUES] as Cell[] | undefined
  if (unknown !== undefined) {
    for (const cell of unknown) {
      next++
      writer.cell(cell)
      if (cell === false) continue
      count = before + next
      end = writer.length
    }
  }
  writer.closeList(start, count, end)
}

function readFields(reader: ByteReader, { forms }: Plan, values: Values, count: number): Values {
  const known = Math.min(count, forms.length)
  for (let i = 0; i < known; i++) {
    const tag = reader.tag()
    if (tag === ABSENT) continue
    const form = forms[i] as NamedForm
    values[form.name] = form.read(reader, tag)
  }
  if (count > known) {
    const unknown: Cell[] = []
    for (let i = known; i < count; i++) unknown.push(reader.cell())
    values[UNKNOWN_VALUES] = unknown
  }
  return values
}

const recordPlans = Object.fromEntries(
  recordTypes.map((type) => [type, planOf(fieldsOf(type), blankOf(type), 'type')]),
) as Readonly<Record<RecordType, Plan>>

const storedEventFields = eventFields.filter((field) => field.name !== 'at')
const eventPlan = planOf(storedEventFields, blankWith(storedEventFields), 'at')

/** Writes a record. Throws a RangeError and writes nothing if the record has a value that cannot be stored. */
export function writeRecord(record: AnyRecord, writer: ByteWriter): void {
  writeWhole(writer, recordPlans[record.type], record)
}

/** Reads the record that ends with the bytes. Throws a RangeError if the bytes are damaged. */
export function readRecord<T extends RecordType>(type: T, bytes: Buffer, start: number): RecordTypes[T] {
  return readWhole(recordPlans[type], bytes, start) as unknown as RecordTypes[T]
}

/** Writes an event without its time, which the server adds. Throws a RangeError and writes nothing as `writeRecord` does. */
export function writeEvent(event: StoredEvent, writer: ByteWriter): void {
  writeWhole(writer, eventPlan, event)
}

/** Reads the event that ends with the bytes. Throws a RangeError if the bytes are damaged. */
export function readEvent(bytes: Buffer, start: number): StoredEvent {
  return readWhole(eventPlan, bytes, start) as unknown as StoredEvent
}

function writeWhole(writer: ByteWriter, plan: Plan, value: object): void {
  const start = writer.length
  try {
    writeFields(writer, plan, writer.openList(), 0, value as Values)
  } catch (error) {
    writer.truncate(start)
    throw error
  }
}

function readWhole(plan: Plan, bytes: Buffer, start: number): Values {
  const reader = new ByteReader(bytes, start)
  const values = readFields(reader, plan, plan.create(), reader.list(reader.tag()))
  reader.end()
  return values
}
