/** Ends a server and removes its folder when the process that started it dies, in whatever way it dies. */
import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

export interface Guard {
  /** Names the process that is to end with this one; undefined if there is none at the moment. */
  readonly watch: (pid: number | undefined) => void
  /** Nothing is left to be guarded. */
  readonly release: () => void
}

const RELEASED = 'released'

/**
 * A shell that reads its input. The input ends when this process does, because no other process holds the other end. The server
 * leads a process group of its own, so that the processes it has forked end with it; a PostgreSQL forks processes that
 * leave the group, so its children end one by one, and its shared memory, named in its lock file, is given back. It is
 * stopped first, so that it forks nothing while they are counted.
 */
const script = `
pid=
while read -r word; do
  if [ "$word" = ${RELEASED} ]; then exit 0; fi
  pid=$word
done
if [ -n "$pid" ]; then
  kill -s STOP -- "-$pid"
  children=$(ps -A -o pid= -o ppid= | while read -r child parent; do
    if [ "$parent" = "$pid" ]; then echo "$child"; fi
  done)
  kill -s KILL -- "-$pid" $children
fi
lock="$1/data/postmaster.pid"
if [ -f "$lock" ]; then ipcrm -m "$(sed -n '7s/.* //p' "$lock")"; fi
rm -rf -- "$@" || { sleep 1; rm -rf -- "$@"; }
`

/** `others` are removed with the folder. */
export function guardFolder(folder: string, ...others: readonly string[]): Guard {
  const shell = spawn('sh', ['-c', script, 'sh', folder, ...others], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const { stdin } = shell
  // A guard that was ended guards nothing any more; the tests can continue without it.
  shell.on('error', () => undefined)
  stdin.on('error', () => undefined)
  // It waits for the end of this process, so it must not keep it from ending.
  shell.unref()
  if (stdin instanceof Socket) stdin.unref()
  return {
    watch: (pid) => void stdin.write(`${pid ?? ''}\n`),
    release: () => void stdin.end(`${RELEASED}\n`),
  }
}
