import { Command } from 'commander'
import { checkKey, checkNeeds, invalidInput, mintExecutionId, prepareSubmit, task, unwrap } from '../../client/index.ts'
import type { RetryOptions, SubmitItem, SubmitOptions } from '../../client/index.ts'
import type { CreateResult, Refused } from '../../kernel/index.ts'
import { dropUndefined, parseGiven } from '../args/drop-undefined.ts'
import { collect, oneOf, parseBackoff, parseDurationFlag, parseInteger, parseTags } from '../args/flags.ts'
import { shapingFlags } from '../args/shaping-flags.ts'
import { examples } from '../args/help.ts'
import { readInput } from '../args/input-argument.ts'
import { Interruption } from '../process/interruption.ts'
import type { Session, Shell } from '../session/shell.ts'
import { printableLines } from '../text/printable.ts'
import { valueForJson, valueText } from '../text/value-text.ts'

interface SubmitFlags {
  readonly id?: string
  readonly taskVersion?: string
  readonly lane?: string
  readonly priority?: string
  readonly delay?: string
  readonly attempts?: string
  readonly backoff?: string
  readonly timeout?: string
  readonly deadline?: string
  readonly tag?: string[]
  readonly needs?: string[]
  readonly ifExists?: string
  readonly dedupe?: string
  readonly debounce?: string
  readonly throttle?: string
  readonly singleton?: string
  readonly order?: string
  readonly wait?: boolean
}

type Created = Exclude<CreateResult, Refused>

export function submitCommand(shell: Shell): Command {
  return new Command('submit')
    .description('submit an execution of a task; it is stored when the command returns')
    .argument('<task>', 'the name of the task')
    .argument('[input]', 'its input: JSON, @file, or - for standard input')
    .option('--id <key>', 'a key of your own; a second submit with it does not start a second execution')
    .option('--task-version <number>', 'the version of the task; only workers that serve it run the execution')
    .option('--lane <lane>', 'the lane it waits in (default: "default")')
    .option('--priority <number>', '0 to 9000, highest first (default: 0)')
    .option('--delay <duration>', 'how long to wait before the first attempt')
    .option('--attempts <number>', 'the most attempts, the first included (default: 1)')
    .option('--backoff <how>', 'fixed[:wait] or exponential[:first wait[:longest wait]]; needs --attempts')
    .option('--timeout <duration>', 'how long one attempt may run')
    .option('--deadline <duration>', 'how long it may take from submit to end')
    .option('--tag <name=value>', 'a tag; can be repeated', collect)
    .option('--needs <capability>', 'what a worker must be capable of to run it; can be repeated', collect)
    .option('--if-exists <what>', 'with --id: join, reject, replace or after (default: join if the input is the same)')
    .option('--dedupe <duration>', 'with --id: how long after its end the id stays taken (default: its retention)')
    .option('--debounce <key,wait[,max]>', 'combine submits of this key: the last input starts after silence')
    .option('--throttle <key,period>', 'combine submits of this key: the first of a period starts, and others join it')
    .option('--singleton <key[,what]>', 'at most one of this key runs; if one does: join (default), reject or replace')
    .option('--order <key[,block]>', 'run those of this key one after the other; block: a failure holds back the rest')
    .option('--wait', 'wait for the end and print the result')
    .addHelpText(
      'after',
      examples([
        `submit greet '{"name":"Ada"}'`,
        `submit report @input.json --id report:2026-01 --lane slow --attempts 5 --backoff exponential:1s:5m`,
        `submit sync '{"account":17}' --id sync:17 --if-exists after`,
        `submit index '{"document":17}' --debounce document:17,5s,1m`,
        `echo '{"name":"Ada"}' | flowfabric submit greet - --wait`,
      ]),
    )
    .action(async (taskName: string, argument: string | undefined, flags: SubmitFlags, command: Command) => {
      const options = optionsOf(flags)
      const input = await readInput(argument, process.stdin)
      const version = parseGiven(flags.taskVersion, (text) => parseInteger(text, '--task-version'))
      const item = { task: task(taskName, dropUndefined({ version })), input, options }
      await refuseInvalid(item, shell)
      await shell.withFabric(command, { create: true }, async (session) => {
        const created = unwrap(await session.fabric.try.submit(item.task, item.input, item.options))
        if (flags.wait === true) await waitForEnd(shell, session, created)
        else await answerCreated(session, created, flags.id)
      })
    })
}

function optionsOf(flags: SubmitFlags): Omit<SubmitOptions, 'tx'> {
  return dropUndefined({
    id: flags.id,
    lane: flags.lane,
    priority: parseGiven(flags.priority, (text) => parseInteger(text, '--priority')),
    delay: parseGiven(flags.delay, (text) => parseDurationFlag(text, '--delay')),
    retry: retryOf(flags),
    timeout: dropUndefined({
      attempt: parseGiven(flags.timeout, (text) => parseDurationFlag(text, '--timeout', 1)),
      total: parseGiven(flags.deadline, (text) => parseDurationFlag(text, '--deadline', 1)),
    }),
    ifExists: parseGiven(flags.ifExists, (text) => oneOf(['join', 'reject', 'replace', 'after'], text, '--if-exists')),
    dedupe: dedupeOf(flags),
    ...shapingFlags(flags),
    tags: parseTags(flags.tag ?? []),
    needs: parseGiven(flags.needs, (needs) => checkNeeds(needs, '--needs')),
  })
}

function dedupeOf({ id, dedupe }: SubmitFlags): number | undefined {
  if (dedupe !== undefined && id === undefined) {
    throw invalidInput('--dedupe', '--dedupe says how long an id stays taken, so it needs --id.')
  }
  return parseGiven(dedupe, (text) => parseDurationFlag(text, '--dedupe'))
}

function retryOf({ attempts, backoff }: SubmitFlags): RetryOptions | undefined {
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

/** Checks everything before the store is opened, so that a typo does not create an empty store. */
async function refuseInvalid(item: SubmitItem, { runtime }: Shell): Promise<void> {
  if (item.options?.id !== undefined) checkKey(item.options.id, '--id')
  const ids = { executionId: mintExecutionId(0, runtime), requestId: runtime.uuid() }
  await prepareSubmit(item, ids, { namespace: 'default', indexedTags: [] })
}

async function answerCreated({ output }: Session, created: Created, key: string | undefined): Promise<void> {
  const { executionId: id, kind, state } = created
  await output.answer({ id, key, kind, state }, () => `${id} ${kind} (${state})`)
}

async function waitForEnd(shell: Shell, { fabric, output }: Session, created: Created): Promise<void> {
  const { executionId: id, kind } = created
  using interruption = new Interruption()
  output.remark(`${id} ${kind}. Waiting for its end; ctrl-c stops waiting, not the execution.`)
  try {
    const result = await fabric.execution(id).result({ signal: interruption.signal })
    const document = { id, kind, state: 'completed', result: valueForJson(result) }
    if (result === undefined) output.remark('It completed without a result.')
    if (output.isJson || result !== undefined) await output.answer(document, () => printableLines(valueText(result)))
  } catch (error) {
    if (interruption.exitCode === undefined) throw error
    shell.exitCode = interruption.exitCode
    output.remark(`The execution continues. To see its state: flowfabric show ${id}`)
  }
}
