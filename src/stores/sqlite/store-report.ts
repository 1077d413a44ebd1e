/** Reports a file to an operator, as SQLite and the system see it. */
import { existsSync, statfsSync } from 'node:fs'
import type { StoreReport } from '../store.ts'
import { MEMORY_FILE } from './file/file.ts'
import type { OpenFile } from './file/file.ts'

const SYNCHRONOUS_NORMAL = 1

/** Magic numbers of network filesystems on Linux. */
const NETWORK_FILESYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
])

export function reportOf({ path, writer }: OpenFile): StoreReport {
  const isInMemory = path === MEMORY_FILE
  return {
    kind: 'sqlite',
    version: String(writer.value('select sqlite_version()')),
    location: path,
    durability: isInMemory
      ? 'none: everything is gone when the process ends'
      : durability(writer.value('pragma synchronous')),
    warnings: isInMemory
      ? ['Nothing is kept when the process ends. Name a file for work that must not get lost.']
      : fileWarnings(path),
  }
}

function durability(synchronous: unknown): string {
  return synchronous === SYNCHRONOUS_NORMAL
    ? 'write-ahead log, synchronous normal: acknowledged commits survive a crash of the process; a power failure can lose the last ones, never the file'
    : 'write-ahead log, synchronous full: acknowledged commits survive a power failure'
}

function fileWarnings(path: string): string[] {
  if (!existsSync(path)) return [`${path} was removed or renamed while in use. Put it back, or restart every process.`]
  const network = process.platform === 'linux' ? NETWORK_FILESYSTEMS.get(statfsSync(path).type) : undefined
  if (network === undefined) return []
  return [`${path} lies on a network filesystem (${network}), where SQLite's locks may fail. Use a local disk.`]
}
