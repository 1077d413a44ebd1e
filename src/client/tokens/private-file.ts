/**
 * Reads a file that only its owner should be able to read: one of keys, or one of tokens. Errors name the file and the
 * problem, never its content.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { EngineError } from '../../kernel/engine-error.ts'

/** Room for far more than such a file ever has. */
export const PRIVATE_FILE_MAX_BYTES = 1_048_576
/** The permission bits of users other than the owner. */
const OPEN_TO_OTHERS = 0o077n
/** A pipe that replaces the file between check and open must not block the process. Windows has no such flag. */
const OPEN_FLAGS = constants.O_RDONLY | ((constants as { O_NONBLOCK?: number }).O_NONBLOCK ?? 0)

/** The errors of one kind of file. A problem is a clause that follows the name of the file, such as `is empty`. */
export interface PrivateFileErrors {
  readonly missing: (file: string, problem: string) => EngineError
  readonly unusable: (file: string, problem: string) => EngineError
}

export interface PrivateText {
  readonly text: string
  /** Identifies the version of the file, its owner and its mode. */
  readonly version: string
  readonly isOpenToOthers: boolean
}

/** Reads through one descriptor, so that content and version match even while the file is replaced. */
export function readPrivateFile(file: string, errors: PrivateFileErrors): PrivateText {
  let descriptor: number | undefined
  try {
    // Opening a device can have effects, and opening a pipe can block, so the kind of file is checked before.
    refuseUnlessFile(file, statSync(file, { bigint: true }), errors)
    descriptor = openSync(file, OPEN_FLAGS)
    const stats = fstatSync(descriptor, { bigint: true })
    refuseUnlessFile(file, stats, errors)
    if (stats.size > PRIVATE_FILE_MAX_BYTES)
      throw errors.unusable(file, `is larger than ${PRIVATE_FILE_MAX_BYTES} bytes`)
    const isOpenToOthers = process.platform !== 'win32' && (stats.mode & OPEN_TO_OTHERS) !== 0n
    return { text: readFileSync(descriptor, 'utf8'), version: versionOf(stats), isOpenToOthers }
  } catch (error) {
    if (error instanceof EngineError) throw error
    const code = fileErrorCode(error)
    throw code === 'ENOENT' ? errors.missing(file, 'does not exist') : errors.unusable(file, `cannot be read (${code})`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Parses the text of a file. Discards the error of the JSON parser, which quotes the text and so the secrets. */
export function parsePrivateJson(file: string, text: string, errors: PrivateFileErrors): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw errors.unusable(file, 'is not JSON')
  }
}

/** Returns the version of the file; undefined if there is none, so that the read that follows reports why. */
export function privateFileVersion(file: string): string | undefined {
  try {
    return versionOf(statSync(file, { bigint: true }))
  } catch {
    return undefined
  }
}

/** Returns the system's code of an error, such as `ENOENT`. */
export function fileErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}

function refuseUnlessFile(file: string, stats: BigIntStats, errors: PrivateFileErrors): void {
  if (!stats.isFile()) throw errors.unusable(file, 'is not a regular file')
}

/** A change of the owner or the mode is a change of the file: it can make it readable, or readable to others. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs, uid, gid, mode }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs, uid, gid, mode].join(' ')
}
