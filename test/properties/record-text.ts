import type { AnyRecord } from '../../src/kernel/index.ts'

/** A record of a dump is compared with the one before it and with the one after it. */
const known = new WeakMap<AnyRecord, string>()

/** All fields of a record as text: equal records have equal texts. */
export function textOfRecord(record: AnyRecord): string {
  let text = known.get(record)
  if (text === undefined) {
    text = JSON.stringify(record)
    known.set(record, text)
  }
  return text
}
