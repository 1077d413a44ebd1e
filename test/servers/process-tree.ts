/** The processes that a process has forked, also those that have left its process group. */
import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'

const LISTING_LIMIT_MS = 30_000

/** Sends a signal to each of these processes that is still there. */
function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}

/** The ids of the processes that this one has forked and that still run. */
export function childrenOf(pid: number): number[] {
  const listing = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], {
    encoding: 'utf8',
    timeout: LISTING_LIMIT_MS,
  })
  const rows = listing.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return rows.flatMap(([child = NaN, parent]) => (parent === pid ? [child] : []))
}

/** Stops a process and its children. It is stopped first, so that it forks nothing while they are counted. */
export function pauseTree(pid: number): void {
  signalEach([pid], 'SIGSTOP')
  signalEach(childrenOf(pid), 'SIGSTOP')
}

export function resumeTree(pid: number): void {
  signalEach([...childrenOf(pid), pid], 'SIGCONT')
}

/** Ends a process and its children in the middle of whatever they do. */
export function killTree(pid: number): void {
  signalEach([pid], 'SIGSTOP')
  signalEach([pid, ...childrenOf(pid)], 'SIGKILL')
}

/**
 * What a process does, in the letters of the system: the first is `T` for one that was stopped, `Z` for one that has ended
 * and whose parent has not asked. Undefined if there is none.
 */
export async function stateOf(pid: number): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return stdout === '' ? undefined : stdout.trim()
}
