/** The options of a scenario on the command line besides its store, count and rounds: a flag for each. */

interface Option<T> {
  /** Stands for the value in the help text. */
  readonly value: string
  readonly help: string
  readonly parse: (text: string, flag: string) => T
}

export const optionTable = {
  length: { value: 'N', help: 'nodes of a chain, or steps of a handler', parse: parseCount },
  flows: { value: 'N', help: 'flows that a round runs with many under way at once', parse: parseCount },
  width: { value: 'N', help: 'children of the root of a flow', parse: parseCount },
  executions: { value: 'N', help: 'executions in the store before the measurement', parse: parseCount },
  n: { value: 'N', help: 'nodes of a race, or children of a handler', parse: parseCount },
  processes: {
    value: 'N[,N…]',
    help: 'numbers of OS processes that share the work; each number is measured',
    parse: parseCounts,
  },
  delay: {
    value: 'MS',
    help: 'milliseconds that a loopback proxy adds each way between clients and the Valkey server',
    parse: parseMilliseconds,
  },
  delayed: { value: 'SHARE', help: 'share of executions that are submitted with a short delay', parse: parseShare },
  retry: {
    value: 'SHARE',
    help: 'share of executions whose first attempt fails and is retried after a short backoff',
    parse: parseShare,
  },
} as const satisfies Readonly<Record<string, Option<unknown>>>

export type OptionName = keyof typeof optionTable

/** Undefined means the scenario's own value. */
export type ScenarioOptions = {
  readonly [N in OptionName]: ReturnType<(typeof optionTable)[N]['parse']> | undefined
}

export const optionNames = Object.keys(optionTable) as readonly OptionName[]

/** Parses the options that were given. Throws if the scenario does not take one of them. */
export function parseOptions(
  texts: Readonly<Partial<Record<OptionName, string>>>,
  taken: readonly OptionName[],
): ScenarioOptions {
  const parsed = optionNames.map((name) => {
    const text = texts[name]
    if (text === undefined) return [name, undefined] as const
    if (!taken.includes(name)) throw new Error(`This scenario takes no --${name}.`)
    return [name, optionTable[name].parse(text, `--${name}`)] as const
  })
  return Object.fromEntries(parsed) as ScenarioOptions
}

export function parseCount(text: string, flag: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${flag} is '${text}', but must be a whole number of at least 1.`)
  return Number(text)
}

function parseCounts(text: string, flag: string): readonly number[] {
  const counts = text.split(',').map((part) => parseCount(part, flag))
  return [...new Set(counts)].sort((a, b) => a - b)
}

function parseMilliseconds(text: string, flag: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`${flag} is '${text}', but must be whole milliseconds from 1 to 9999.`)
  return Number(text)
}

function parseShare(text: string, flag: string): number {
  const share = Number(text)
  if (!/^\d?(\.\d{1,4})?$/.test(text) || !(share > 0) || share > 1) {
    throw new Error(`${flag} is '${text}', but must be a share above 0 and up to 1, such as 0.5.`)
  }
  return share
}
