/** The audit trail as a file, one line of JSON for each entry. */
import { appendFile, open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { EngineError } from '../../kernel/engine-error.ts'
import type { Audit, AuditEntry, AuditPage, AuditQuery } from './audit.ts'

const OWNER_ONLY = 0o600
const CHUNK_BYTES = 65_536
/** What one page reads of the file at most. An entry that is longer is not returned. */
const READ_BYTES_MAX = 4_194_304
const NEWLINE = 0x0a

/** Appends entries to a file, and reads them from its end. The file may be renamed at any time: the next entry creates it again. */
export function auditFile(file: string): Audit {
  let last: Promise<void> = Promise.resolve()
  const append = (entry: AuditEntry) => {
    const line = `${JSON.stringify(entry)}\n`
    last = last.catch(() => undefined).then(() => appendFile(file, line, { mode: OWNER_ONLY, flush: true }))
    return last
  }
  return Object.assign(append, { read: (query: AuditQuery) => readAuditFile(file, query) })
}

/** Creates the file unless it exists. Throws `invalid_configuration` if it cannot be written, before any action depends on it. */
export async function checkAuditFile(file: string): Promise<void> {
  try {
    await appendFile(file, '', { mode: OWNER_ONLY })
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException
    const message = `The audit file ${file} cannot be written: ${code}. Name a file in a folder that this user may write to.`
    throw new EngineError('invalid_configuration', { field: 'auditFile', message }, { cause: error })
  }
}

async function readAuditFile(file: string, query: AuditQuery): Promise<AuditPage> {
  let handle: FileHandle
  try {
    handle = await open(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { items: [], cursor: undefined }
    throw error
  }
  try {
    return await readBackwards(handle, query)
  } finally {
    await handle.close()
  }
}

/** Reads from the end, or from the place of the cursor, towards the beginning. */
async function readBackwards(handle: FileHandle, { limit, cursor, accepts }: AuditQuery): Promise<AuditPage> {
  const { size, ino } = await handle.stat()
  const first = cursor === undefined ? size : placeOf(cursor, ino, size)
  const lowest = Math.max(0, first - READ_BYTES_MAX)
  let end = first
  const items: AuditEntry[] = []
  // Bytes before `end` that belong to a line whose beginning was not read yet.
  let begun = Buffer.alloc(0)
  while (end > lowest) {
    const start = Math.max(lowest, end - CHUNK_BYTES)
    const chunk = Buffer.concat([await readAt(handle, start, end), begun])
    let lineEnd = chunk.length
    for (let at = chunk.length - 1; at >= 0; at--) {
      if (chunk[at] !== NEWLINE && !(at === 0 && start === 0)) continue
      const lineStart = chunk[at] === NEWLINE ? at + 1 : at
      const entry = entryIn(chunk.subarray(lineStart, lineEnd))
      lineEnd = at
      if (entry === undefined || !accepts(entry)) continue
      items.push(entry)
      const place = start + lineStart
      if (items.length === limit) return { items, cursor: place === 0 ? undefined : cursorAt(place, ino) }
    }
    begun = chunk.subarray(0, lineEnd)
    end = start
  }
  if (end === 0) return { items, cursor: undefined }
  const next = end + begun.length
  return { items, cursor: cursorAt(next === first ? end : next, ino) }
}

async function readAt(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start)
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start)
  return buffer.subarray(0, bytesRead)
}

/** A line that was torn by a full disk, or written by another program, is passed over. */
function entryIn(line: Buffer): AuditEntry | undefined {
  if (line.length === 0) return undefined
  try {
    const { at, requestId, credential, role, action, target, status, ...rest } = JSON.parse(
      line.toString(),
    ) as AuditEntry
    const isWhole = Number.isSafeInteger(at) && typeof action === 'string' && typeof target === 'object'
    if (!isWhole || typeof credential !== 'string') return undefined
    const { by, namespace, address, reason, code } = rest
    return { at, requestId, credential, role, by, namespace, address, action, target, reason, status, code }
  } catch {
    return undefined
  }
}

const CURSOR = /^af1\.([0-9a-z]{1,14})\.([0-9a-z]{1,11})$/

/** Names the file, because a place in one that was renamed is a place of nothing in its successor. */
function cursorAt(place: number, ino: number): string {
  return `af1.${ino.toString(36)}.${place.toString(36)}`
}

function placeOf(cursor: string, ino: number, size: number): number {
  const [, file, place = ''] = CURSOR.exec(cursor) ?? []
  if (file !== ino.toString(36)) throw new EngineError('invalid_cursor', { field: 'cursor' })
  return Math.min(Number.parseInt(place, 36), size)
}
