/** The form in which a store keeps records and events. */
import { recordsReadAfter, entriesOf, recordsNamedBy } from '../../../kernel/index.ts'
import type { FabricEvent } from '../../../kernel/index.ts'
import { RefusedRecord } from '../../working-set/commit/backend.ts'
import { readEvent, readRecord, writeEvent, writeRecord } from './record-bytes.ts'
import type { StoredForm } from './stored-value.ts'

export const storedForm: StoredForm = {
  writeBody: (record, writer) => {
    writeWhole(() => writeRecord(record, writer), record.id)
  },
  readBody: readRecord,
  entriesOf,
  writeEventBody: (event, writer) => {
    writeWhole(() => writeEvent(event, writer), event.executionId)
  },
  readEventBody: (bytes, start, at): FabricEvent => ({ ...readEvent(bytes, start), at }),
  namedBy: recordsNamedBy,
  recordsReadAfter,
}

/** No limit of the kernel lets a text or a number come near to what cannot be stored. */
function writeWhole(write: () => void, recordId: string): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RefusedRecord(error.message, recordId, { cause: error })
  }
}
