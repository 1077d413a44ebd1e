/** The arguments and options of the commands that submit an execution. */
import type { Command } from 'commander'
import { checkKey, invalidInput, mintExecutionId, prepareSubmit, task, unwrap } from '../../client/index.ts'
import type { SubmitItem, SubmitOptions } from '../../client/index.ts'
import type { Fabric } from '../../fabric/fabric.ts'
import type { CreateResult, Refused } from '../../kernel/index.ts'
import type { Runtime } from '../../runtime/index.ts'
import { dropUndefined, parseGiven } from './drop-undefined.ts'
import { oneOf, parseDurationFlag, parseTags } from './flags.ts'
import { readInput } from './input-argument.ts'
import { shapingFlags } from './shaping-flags.ts'
import { addWorkOptions, budgetUsesIn, versionOf, workOptions } from './work-flags.ts'
import type { WorkFlags } from './work-flags.ts'

export interface SubmitFlags extends WorkFlags {
  readonly id?: string
  readonly delay?: string
  readonly ifExists?: string
  readonly dedupe?: string
  readonly debounce?: string
  readonly throttle?: string
  readonly singleton?: string
  readonly order?: string
}

export type Created = Exclude<CreateResult, Refused>

export function addSubmitOptions(command: Command): Command {
  const named = command
    .argument('<task>', 'the name of the task')
    .argument('[input]', 'its input: JSON, @file, or - for standard input')
    .option('--id <key>', 'a key of your own; a second submit with it does not start a second execution')
  return addWorkOptions(named)
    .option('--delay <duration>', 'how long to wait before the first attempt')
    .option('--if-exists <what>', 'with --id: join, reject, replace or after (default: join if the input is the same)')
    .option('--dedupe <duration>', 'with --id: how long after its end the id stays taken (default: its retention)')
    .option('--debounce <key,wait[,max]>', 'combine submits of this key: the last input starts after silence')
    .option('--throttle <key,period>', 'combine submits of this key: the first of a period starts, and others join it')
    .option('--singleton <key[,what]>', 'at most one of this key runs; if one does: join (default), reject or replace')
    .option('--order <key[,block]>', 'run those of this key one after the other; block: a failure holds back the rest')
}

/** A submit that was checked, and needs the store only now. */
export interface PreparedSubmit {
  readonly submit: (fabric: Fabric) => Promise<Created>
}

/** Checks everything before the store is opened, so that a typo does not create an empty store. */
export async function prepare(
  runtime: Runtime,
  taskName: string,
  argument: string | undefined,
  flags: SubmitFlags,
): Promise<PreparedSubmit> {
  const options = optionsOf(flags)
  const input = await readInput(argument, process.stdin)
  const item = { task: task(taskName, versionOf(flags)), input, options }
  const uses = budgetUsesIn(flags.budget ?? [])
  await refuseInvalid(item, runtime)
  return {
    submit: async (fabric) => {
      const budgets = await fabric.budgets.usesByName(uses)
      return unwrap(await fabric.try.submit(item.task, item.input, { ...item.options, budgets }))
    },
  }
}

async function refuseInvalid(item: SubmitItem, runtime: Runtime): Promise<void> {
  if (item.options?.id !== undefined) checkKey(item.options.id, '--id')
  const ids = { executionId: mintExecutionId(0, runtime), requestId: runtime.uuid() }
  await prepareSubmit(item, ids, { namespace: 'default', indexedTags: [] })
}

function optionsOf(flags: SubmitFlags): Omit<SubmitOptions, 'tx'> {
  return dropUndefined({
    id: flags.id,
    ...workOptions(flags),
    delay: parseGiven(flags.delay, (text) => parseDurationFlag(text, '--delay')),
    ifExists: parseGiven(flags.ifExists, (text) => oneOf(['join', 'reject', 'replace', 'after'], text, '--if-exists')),
    dedupe: dedupeOf(flags),
    ...shapingFlags(flags),
    tags: parseTags(flags.tag ?? []),
  })
}

function dedupeOf({ id, dedupe }: SubmitFlags): number | undefined {
  if (dedupe !== undefined && id === undefined) {
    throw invalidInput('--dedupe', '--dedupe says how long an id stays taken, so it needs --id.')
  }
  return parseGiven(dedupe, (text) => parseDurationFlag(text, '--dedupe'))
}
