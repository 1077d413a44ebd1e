/** Options for the executions of a task that submits and schedules have in common. */
import type { Command } from 'commander'
import { checkKey, checkNeeds, invalidInput } from '../../client/index.ts'
import type { RetentionOptions, RetryOptions, TimeoutOptions } from '../../client/index.ts'
import { dropUndefined, parseGiven } from './drop-undefined.ts'
import { collect, parseBackoff, parseDurationFlag, parseInteger } from './flags.ts'

export interface WorkFlags {
  readonly taskVersion?: string
  readonly lane?: string
  readonly priority?: string
  readonly attempts?: string
  readonly backoff?: string
  readonly timeout?: string
  readonly deadline?: string
  readonly retention?: string
  readonly needs?: string[]
  readonly tag?: string[]
  readonly budget?: string[]
}

export function addWorkOptions(command: Command): Command {
  return command
    .option('--task-version <number>', 'the version of the task; only workers that serve it run the execution')
    .option('--lane <lane>', 'the lane it waits in (default: "default")')
    .option('--priority <number>', '0 to 9000, highest first (default: 0)')
    .option('--attempts <number>', 'the most attempts, the first included (default: 1)')
    .option('--backoff <how>', 'fixed[:wait] or exponential[:first wait[:longest wait]]; needs --attempts')
    .option('--timeout <duration>', 'how long one attempt may run')
    .option('--deadline <duration>', 'how long it may take from submit to end')
    .option('--retention <how>', 'how long it is kept after its end, such as 7d or completed=1h,failed=30d,keep=10000')
    .option('--needs <capability>', 'what a worker must be capable of to run it; can be repeated', collect)
    .option('--tag <name=value>', 'a tag; can be repeated', collect)
    .option('--budget <name[=key]>', 'a budget of the store that it spends, with the key; can be repeated', collect)
}

export interface WorkOptions {
  readonly lane?: string
  readonly priority?: number
  readonly retry?: RetryOptions
  readonly timeout?: TimeoutOptions
  readonly retention?: number | RetentionOptions
  readonly needs?: readonly string[]
}

/** The settings of the executions, without their tags and budgets. */
export function workOptions(flags: WorkFlags): WorkOptions {
  const timeout = dropUndefined({
    attempt: parseGiven(flags.timeout, (text) => parseDurationFlag(text, '--timeout', 1)),
    total: parseGiven(flags.deadline, (text) => parseDurationFlag(text, '--deadline', 1)),
  })
  return dropUndefined({
    lane: flags.lane,
    priority: parseGiven(flags.priority, (text) => parseInteger(text, '--priority')),
    retry: retryOf(flags),
    timeout: Object.keys(timeout).length === 0 ? undefined : timeout,
    retention: parseGiven(flags.retention, parseRetentionFlag),
    needs: parseGiven(flags.needs, (needs) => checkNeeds(needs, '--needs')),
  })
}

export function versionOf({ taskVersion }: Pick<WorkFlags, 'taskVersion'>): { readonly version?: number } {
  return dropUndefined({ version: parseGiven(taskVersion, (text) => parseInteger(text, '--task-version')) })
}

function retryOf({ attempts, backoff }: WorkFlags): RetryOptions | undefined {
  if (attempts !== undefined) {
    return {
      attempts: parseInteger(attempts, '--attempts'),
      ...dropUndefined({ backoff: parseGiven(backoff, parseBackoff) }),
    }
  }
  if (backoff === undefined) return undefined
  throw invalidInput(
    '--backoff',
    '--backoff sets the wait between attempts and needs --attempts, the number of attempts.',
  )
}

/** Those above a budget belong to it, and need to be named only to have a key. */
export function budgetUsesIn(given: readonly string[]): { readonly budget: string; readonly key?: string }[] {
  return given.map((text) => {
    const at = text.indexOf('=')
    const name = checkName(at < 0 ? text : text.slice(0, at))
    return at < 0 ? { budget: name } : { budget: name, key: checkKey(text.slice(at + 1), '--budget') }
  })
}

function checkName(name: string): string {
  if (name !== '') return name
  throw invalidInput('--budget', "--budget takes the name of a budget, and its key if it has one: 'tenants=acme'.")
}

const outcomes = ['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const

/** `7d`, or a time for each outcome and the number to keep: `completed=1h,failed=30d,keep=10000`. */
function parseRetentionFlag(text: string): number | RetentionOptions {
  if (!text.includes('=')) return parseDurationFlag(text, '--retention')
  const retention: Record<string, number> = {}
  for (const part of text.split(',')) {
    const [name = '', value = '', ...more] = part.split('=')
    const isOutcome = outcomes.some((outcome) => outcome === name)
    if ((!isOutcome && name !== 'keep') || more.length > 0 || name in retention) {
      throw invalidInput(
        '--retention',
        `--retention has ${JSON.stringify(part)}, but takes each of ${outcomes.join(', ')} once with a duration, and keep with a number.`,
      )
    }
    retention[name] = isOutcome ? parseDurationFlag(value, '--retention') : parseInteger(value, '--retention')
  }
  return retention
}
