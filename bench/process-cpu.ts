/** CPU time of a process and of all that it has forked, as the kernel of a Linux machine counts it. */
import { readFile } from 'node:fs/promises'
import { childrenOf } from '../test/servers/process-tree.ts'

/** The unit of these counters, which is the same on every Linux that runs Node. */
const MICROS_PER_TICK = 10_000
/** Of the words after the name of the program, which stands in brackets and may itself contain anything. */
const USER_TICKS = 11
const SYSTEM_TICKS = 12
const ENDED_USER_TICKS = 13
const ENDED_SYSTEM_TICKS = 14

/** What it has used itself, what its children have used so far, and what those have used that have ended. */
export async function treeCpuMicros(pid: number): Promise<number> {
  const parent = await ticksOf(pid, [USER_TICKS, SYSTEM_TICKS, ENDED_USER_TICKS, ENDED_SYSTEM_TICKS])
  const children = await Promise.all(
    // A child that ends between the listing and the reading has hardly worked since the last look.
    childrenOf(pid).map((child) => ticksOf(child, [USER_TICKS, SYSTEM_TICKS]).catch(() => 0)),
  )
  return (parent + children.reduce((sum, ticks) => sum + ticks, 0)) * MICROS_PER_TICK
}

async function ticksOf(pid: number, places: readonly number[]): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const words = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return places.reduce((sum, place) => sum + Number(words[place]), 0)
}
