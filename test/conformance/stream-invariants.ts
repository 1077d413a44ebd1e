/** A stream agrees with its chunks: numbered without a gap, frames in order, counted and measured, and owned by an execution. */
import type { AnyRecord, FrameChunk, Stream } from '../../src/kernel/index.ts'
import type { PartitionDump } from '../../src/stores/store.ts'

const SEPARATOR = '\u001f'

export function streamProblems(dump: PartitionDump): string[] {
  const streams = dump.records.filter((record) => record.type === 'stream')
  const chunks = dump.records.filter((record) => record.type === 'frame_chunk')
  const byStream = Map.groupBy(chunks, ({ id, number }) => id.slice(0, -(SEPARATOR + String(number)).length))
  const executions = new Map(
    dump.records.filter((record) => record.type === 'execution').map((execution) => [execution.id, execution]),
  )
  const problems: string[] = []
  for (const stream of streams) {
    const journal = executions.get(stream.executionId)?.journal
    const life = Number(stream.id.split(SEPARATOR).filter((part) => part !== 'log')[1] ?? 0)
    if (journal?.hasStreams !== true) problems.push(`the stream ${stream.id} belongs to no execution`)
    else if (life < journal.firstLife || life > journal.life)
      problems.push(`the stream ${stream.id} is of another life`)
    problems.push(...chunkProblems(stream, byStream.get(stream.id) ?? []))
    byStream.delete(stream.id)
  }
  for (const id of byStream.keys()) problems.push(`chunks of ${id} have no stream`)
  return problems
}

function chunkProblems(stream: Stream, unordered: readonly FrameChunk[]): string[] {
  const chunks = [...unordered].sort((a, b) => a.number - b.number)
  const rules: Record<string, boolean> = {
    'chunks are numbered without a gap':
      chunks.every(({ number }, i) => number === stream.firstChunk + i) &&
      stream.firstChunk + chunks.length === stream.nextChunk,
    'frames follow each other': chunks.every(({ first }, i) => first === endOf(chunks[i - 1], stream)),
    'frames end before the next': endOf(chunks.at(-1), stream) === stream.next,
    'attempts are in order': chunks.every(({ attempt }, i) => attempt >= (chunks[i - 1]?.attempt ?? 1)),
    'bytes are counted': stream.size === chunks.reduce((sum, { size }) => sum + size, 0),
    'the open chunk is the last one': stream.writer.chunk === undefined || stream.writer.chunk === stream.nextChunk - 1,
    'live frames end before the next':
      stream.live === undefined || stream.live.first + stream.live.count === stream.nextLive,
  }
  return Object.keys(rules)
    .filter((rule) => rules[rule] !== true)
    .map((rule) => `${stream.id} breaks the rule: ${rule}`)
}

function endOf(chunk: FrameChunk | undefined, { first }: Stream): number {
  return chunk === undefined ? first : chunk.first + chunk.count
}

/** The bytes that a record of a stream owns. */
export function streamKeys(record: AnyRecord): string[] {
  if (record.type === 'frame_chunk') return [['c', record.id].join(SEPARATOR)]
  if (record.type !== 'stream') return []
  const { id, live, summary } = record
  return [
    ...(live === undefined ? [] : [`l${SEPARATOR}${id}`]),
    ...(summary === undefined ? [] : [`m${SEPARATOR}${id}`]),
  ]
}
