/** Operations that only tests know: each call brings what it does. */
import { afterAll, beforeAll } from 'vitest'
import { operationClasses, operations, plans } from '../../../kernel/index.ts'
import type { Tx } from '../../../kernel/index.ts'
import type { Call } from '../../store.ts'

export interface TestOperation {
  readonly run: (tx: Tx) => unknown
}

const WRITING = 'writeInTest'
const READING = 'readInTest'

/** For the tests of one file. Stores look operations up by name. The writing one has no class: it may break the rules. */
export function useTestOperations(): void {
  const run = (tx: Tx, operation: TestOperation) => ({ kind: 'done', value: operation.run(tx) })
  beforeAll(() => {
    for (const name of [WRITING, READING]) {
      Object.assign(operations, { [name]: run })
      Object.assign(plans, { [name]: () => undefined })
    }
    Object.assign(operationClasses, { [READING]: 'snapshot' })
  })
  afterAll(() => {
    for (const table of [operations, plans, operationClasses]) {
      for (const name of [WRITING, READING]) Reflect.deleteProperty(table, name)
    }
  })
}

/** An operation that may write. */
export function writing(run: TestOperation['run'], ...blobs: Uint8Array[]): Call {
  return callOf(WRITING, { run }, blobs)
}

/** An operation that writes nothing and whose reads have to be of one moment. */
export function reading(run: TestOperation['run']): Call {
  return callOf(READING, { run }, [])
}

function callOf(operation: string, input: TestOperation, blobs: readonly Uint8Array[]): Call {
  return { operation, input, blobs } as unknown as Call
}
