/**
 * A process that submits, claims and completes on one SQLite file until it has done its share, fails or is killed. It
 * prints every id whose creation was acknowledged, and the code of the error that ended it. Arguments: the file, and
 * the number of executions; none for endless.
 */
import { writeSync } from 'node:fs'
import { BATCH_OPERATION_LIMIT } from '../../kernel/index.ts'
import type { Claimed, ExecutionId } from '../../kernel/index.ts'
import { systemRuntime } from '../../runtime/index.ts'
import { Batcher } from '../batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { PARTITION, claim, creation } from '../store.fixture.ts'
import { SqliteStore } from './sqlite-store.ts'

const STDOUT = 1
const STDERR = 2
const [file = '', share] = process.argv.slice(2)
const lifeCount = share === undefined ? Number.POSITIVE_INFINITY : Number(share)
const runtime = systemRuntime()
const store = await SqliteStore.open({ runtime, file })
const batcher = new Batcher(store, runtime)
const payload = new Uint8Array(1_024)
let endedCount = 0

async function submitOne(): Promise<void> {
  const executionId = `0-${runtime.uuid()}` as ExecutionId
  const input = creation({ executionId, payload: { blob: 0, size: payload.byteLength, encoding: 'bytes' } })
  await batcher.run(PARTITION, 'createExecution', input, [payload])
  writeSync(STDOUT, `${executionId}\n`)
}

async function completeOne({ executionId, fence }: Claimed): Promise<void> {
  const result = { blob: 0, size: payload.byteLength, encoding: 'bytes' as const }
  await batcher.run(PARTITION, 'completeExecution', { executionId, fence, result }, [payload])
  endedCount += 1
}

async function liveOn(): Promise<void> {
  const submitCount = Math.min(BATCH_OPERATION_LIMIT, lifeCount - endedCount)
  await Promise.all(Array.from({ length: submitCount }, submitOne))
  const { result } = await batcher.run(
    PARTITION,
    'claimForWorker',
    claim({ requestId: runtime.uuid(), count: submitCount }),
  )
  await Promise.all(result.executions.map(completeOne))
}

// A limit on the size of files then fails the write that exceeds it.
process.on('SIGXFSZ', () => undefined)
try {
  while (endedCount < lifeCount) await liveOn()
} catch (error) {
  if (!(error instanceof EngineError)) throw error
  writeSync(STDERR, error.code)
  process.exitCode = 1
}
await batcher.close()
await store.close()
