/**
 * Changes a private file atomically. A lock file serializes changes, so that none is lost. The new file is synced to disk before
 * it replaces the old one, and only its owner can read it.
 */
import { mkdir, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { sleep } from '../../runtime/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { PRIVATE_FILE_MAX_BYTES, fileErrorCode } from './private-file.ts'
import type { PrivateFileErrors } from './private-file.ts'

const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700
/** How long a change waits for the lock; a change takes milliseconds. */
const LOCK_WAIT_MS = 5_000
const LOCK_RETRY_MS = 20
/** Links that are followed to a file that does not exist, as many as Linux follows. */
const LINK_COUNT_MAX = 40

export interface FileChange<T> {
  readonly text: string
  /** What the caller of the change gets. */
  readonly result: T
}

/** Replaces a file, or creates it. `change` gets the file that a chain of symbolic links leads to. */
export async function changePrivateFile<T>(
  file: string,
  runtime: Runtime,
  errors: PrivateFileErrors,
  change: (target: string) => FileChange<T>,
): Promise<T> {
  const target = await targetOf(file)
  await mkdir(path.dirname(target), { recursive: true, mode: OWNER_ONLY_FOLDER })
  await using _lock = await lockOf(target, runtime, errors)
  const { text, result } = change(target)
  await replace(target, text, errors)
  return result
}

/** Follows symbolic links, also to a file that does not exist yet, so that the target is written and the link stays. */
async function targetOf(file: string, linkCount = 0): Promise<string> {
  try {
    return await realpath(file)
  } catch (error) {
    if (fileErrorCode(error) !== 'ENOENT') throw error
  }
  const link = linkCount < LINK_COUNT_MAX ? await linkAt(file) : undefined
  if (link === undefined) return path.resolve(file)
  return await targetOf(path.resolve(path.dirname(file), link), linkCount + 1)
}

async function linkAt(file: string): Promise<string | undefined> {
  try {
    return await readlink(file)
  } catch (error) {
    // Neither a missing file nor one of another kind is a link.
    if (['ENOENT', 'EINVAL'].includes(fileErrorCode(error))) return undefined
    throw error
  }
}

async function lockOf(file: string, runtime: Runtime, errors: PrivateFileErrors): Promise<AsyncDisposable> {
  const lock = `${file}.lock`
  const lastAt = runtime.monotonic() + LOCK_WAIT_MS
  for (;;) {
    try {
      const handle = await open(lock, 'wx', OWNER_ONLY)
      await handle.close()
      return { [Symbol.asyncDispose]: () => rm(lock, { force: true }) }
    } catch (error) {
      if (fileErrorCode(error) !== 'EEXIST') throw error
    }
    if (runtime.monotonic() >= lastAt) throw locked(file, lock, errors)
    await sleep(runtime, LOCK_RETRY_MS)
  }
}

/** A stale lock is never broken automatically: two processes that did so at once could lose a change. */
function locked(file: string, lock: string, errors: PrivateFileErrors): Error {
  return errors.unusable(
    file,
    `is being changed by another process, because the lock file ${lock} exists. If no process is, a change was interrupted: remove the lock file`,
  )
}

async function replace(file: string, text: string, errors: PrivateFileErrors): Promise<void> {
  if (Buffer.byteLength(text) > PRIVATE_FILE_MAX_BYTES)
    throw errors.unusable(file, `would be larger than ${PRIVATE_FILE_MAX_BYTES} bytes: start a new file elsewhere`)
  const draft = `${file}.new`
  // A draft left by an interrupted change may belong to another user, so it is not reused.
  await rm(draft, { force: true })
  const handle = await open(draft, 'wx', OWNER_ONLY)
  try {
    await keepOwner(file, handle)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
  await syncFolder(path.dirname(file))
}

/** A change by root must not take the file from the user whose processes read it. */
async function keepOwner(file: string, draft: FileHandle): Promise<void> {
  try {
    const { uid, gid } = await stat(file)
    await draft.chown(uid, gid)
  } catch (error) {
    // There is no file yet, or only root may give a file away.
    if (!['ENOENT', 'EPERM'].includes(fileErrorCode(error))) throw error
  }
}

/** Syncs the rename to disk. Windows has no fsync of folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
