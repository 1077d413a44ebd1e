/** For each command, what it does with the address of a server as its store. */
import { task } from '../../src/contract.ts'
import type { SubmitOptions } from '../../src/client/index.ts'
import type { Fabric } from '../../src/fabric/fabric.ts'
import { until } from '../servers/until.ts'
import { addition } from './story.ts'

const LIMIT_MS = 60_000

type Args = readonly string[]

/** What the commands of a test run act on. */
export interface CommandPlace {
  /** The fabric of the server. */
  readonly fabric: Fabric
  /** An endpoint that accepts all deliveries. */
  readonly hookUrl: string
  /** Returns the path of a file of the test. */
  readonly file: (name: string) => string
  /** Runs another command and returns its answer. */
  readonly answer: (name: string, ...args: Args) => Promise<Readonly<Record<string, string>>>
}

export type CommandCase =
  | {
      readonly args: Args | ((place: CommandPlace) => Promise<Args>)
      /** What the command prints with --json. */
      readonly prints: RegExp
      /** It continues until a signal, which it gets once it has printed. */
      readonly isEndless?: true
      /** The input of a command that runs in a process of its own, because it uses the standard streams for a protocol. */
      readonly input?: string
    }
  /** It needs the store itself. */
  | { readonly args: Args; readonly isRefused: true }
  /** It only holds other commands. */
  | 'group'

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
const MCP_INPUT = [
  { id: 1, method: 'initialize', params: HELLO },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
]

/** Waits until an execution that is submitted under this id is in a state. */
async function submitted(
  { fabric }: CommandPlace,
  name: string,
  id: string,
  state: string,
  options: SubmitOptions = {},
) {
  await fabric.submit(task(name), undefined, { id, ...options })
  await until(`${id} is ${state}`, LIMIT_MS, async () => (await fabric.describe(id)).state === state || undefined)
}

const within = (args: Args, prepare: (place: CommandPlace) => Promise<unknown>) => async (place: CommandPlace) => {
  await prepare(place)
  return args
}

/** Runs `args` on an execution of a task, named by the command, once the execution is in the state. */
const on = (task: string, state: string, id: string, args: Args) =>
  within(args, (place) => submitted(place, task, id, state))

const delayed = (id: string, args: Args) =>
  within(args, (place) => submitted(place, 'greet', id, 'delayed', { delay: '1h' }))

const withLimit = (name: string, args: Args) =>
  within(args, ({ fabric }) => fabric.limits.define(name, { concurrency: 2 }))

const withBudget = (name: string, args: Args) =>
  within(args, async ({ fabric }) => {
    await fabric.budgets.define(name, { hard: { cost: 100 } })
    await fabric.budgets.raise(name, { amounts: { cost: 1 }, by: 'ada' })
  })

const withSchedule = (name: string, args: Args) =>
  within(args, ({ fabric }) => fabric.schedule(name, { task: task('greet'), input: undefined, cron: '0 3 * * *' }))

const withConsumer = (name: string, args: Args) =>
  within(args, async ({ fabric }) => (await fabric.consume(name, {}, () => undefined)).close())

const withWebhook = (name: string, args: Args) =>
  within(args, ({ fabric, hookUrl: url }) => fabric.webhooks.define(name, { url, allowPrivate: true, task: 'none' }))

/** Has a webhook deliver an event, and returns the id of the delivery. */
async function delivered({ fabric, hookUrl: url }: CommandPlace, name: string): Promise<string> {
  await fabric.webhooks.define(name, { url, allowPrivate: true, task: 'hooked' })
  await fabric.submit(task('hooked'), undefined, { delay: '1h' })
  return await until(`${name} has delivered`, LIMIT_MS, async () => {
    const { items } = await fabric.webhooks.deliveries(name)
    return items.find(({ state }) => state === 'completed')?.id
  })
}

const openFlow = (id: string, args: Args) => within(args, ({ fabric }) => fabric.createFlow('open', { id }))

const failedFlow = (id: string, args: Args) =>
  within(args, async ({ fabric }) => {
    await fabric.submit(addition, { left: -1, right: 2 }, { id })
    await until(`${id} fails`, LIMIT_MS, async () => (await fabric.flow(id).describe()).state === 'failed' || undefined)
  })

const held = (lane: string, args: Args) =>
  within(args, ({ fabric }) => fabric.submit(task('greet'), undefined, { lane }))

const withCodecKeys =
  (name: string) =>
  async ({ answer, file }: CommandPlace) => {
    await answer('codec-keys create', file(name))
    return [file(name)]
  }

const withToken =
  (name: string, args: Args) =>
  async ({ answer, file }: CommandPlace) => {
    await answer('tokens create', 'deploy', '--role', 'operator', '--file', file(name))
    return [...args, '--file', file(name)]
  }

export const commandCases: Readonly<Record<string, CommandCase>> = {
  server: { args: ['--port', '0'], isRefused: true },
  dev: { args: ['--no-watch', '--port', '0'], isRefused: true },
  doctor: { args: [], isRefused: true },
  migrate: { args: ['--dry-run'], isRefused: true },
  backup: { args: ['copy.db'], isRefused: true },
  'codec-sweep': { args: ['--dry-run'], isRefused: true },

  submit: { args: ['greet', '{"n":1}', '--id', 'a:1', '--wait'], prints: /"result":\{"greeted":\{"n":1\}\}/ },
  run: { args: ['greet', '{"n":2}'], prints: /"greeted":\{"n":2\}/ },
  list: { args: on('greet', 'completed', 'a:list', ['--task', 'greet']), prints: /"key":"a:list"/ },
  show: { args: on('greet', 'completed', 'a:show', ['a:show']), prints: /"state":"completed"/ },
  why: { args: delayed('a:why', ['a:why']), prints: /"explanation":\{"why":"delayed"/ },
  cancel: { args: delayed('a:cancel', ['a:cancel']), prints: /"kind":"cancelled"/ },
  replay: { args: on('refuse', 'failed', 'a:replay', ['a:replay']), prints: /"kind":"replayed"/ },
  failures: { args: on('refuse', 'failed', 'a:failures', []), prints: /"task":"refuse"/ },
  continue: {
    args: async (place) => {
      const order = { key: 'account', onFailure: 'block' } as const
      const { id } = await place.fabric.submit(task('refuse'), undefined, { order })
      await until('it fails', LIMIT_MS, async () => (await place.fabric.describe(id)).state === 'failed' || undefined)
      return [id]
    },
    prints: /"kind":"order_continued"/,
  },
  tail: {
    args: on('greet', 'completed', 'a:tail', ['a:tail', '--from-start']),
    prints: /execution_ended/,
    isEndless: true,
  },
  events: { args: on('greet', 'completed', 'a:events', ['a:events']), prints: /execution_ended/ },
  steps: { args: on('review', 'suspended', 'a:steps', ['a:steps']), prints: /"name":"prepare"/ },
  frames: { args: on('narrate', 'suspended', 'a:frames', ['a:frames']), prints: /"value":"two"/ },
  logs: { args: on('narrate', 'suspended', 'a:logs', ['a:logs']), prints: /"message":"drafted"/ },
  signal: { args: on('mailbox', 'suspended', 'a:signal', ['a:signal', 'paid', '12']), prints: /"kind":"delivered"/ },
  waitpoints: { args: on('review', 'suspended', 'a:waits', ['a:waits']), prints: /"key":"review"/ },
  approve: {
    args: on('review', 'suspended', 'a:approve', ['a:approve', 'review', '--by', 'ada']),
    prints: /"effect":"resumed"/,
  },
  resume: { args: on('mailbox', 'suspended', 'a:resume', ['a:resume']), prints: /"kind":"resumed"/ },
  reissue: {
    args: on('review', 'suspended', 'a:reissue', ['a:reissue', 'review', '--for', 'ada']),
    prints: /"token":"/,
  },

  bulk: 'group',
  'bulk cancel': { args: delayed('b:1', ['--state', 'delayed', '--reason', 'old']), prints: /"changed":[1-9]/ },
  'bulk replay': { args: on('refuse', 'failed', 'b:2', ['--state', 'failed', '--dry-run']), prints: /"count":[1-9]/ },
  'bulk delete': {
    args: on('greet', 'completed', 'b:3', ['--state', 'completed', '--dry-run']),
    prints: /"count":[1-9]/,
  },
  'bulk priority': { args: delayed('b:4', ['--set', '7', '--state', 'delayed']), prints: /"changed":[1-9]/ },
  'bulk tag': { args: delayed('b:5', ['--set', 'plan=pro', '--state', 'delayed']), prints: /"changed":[1-9]/ },

  flow: 'group',
  'flow show': { args: openFlow('f:show', ['f:show']), prints: /"key":"f:show"/ },
  'flow list': { args: openFlow('f:list', []), prints: /"key":"f:list"/ },
  'flow cancel': { args: openFlow('f:cancel', ['f:cancel', '--wait']), prints: /"kind":"cancelled"/ },
  'flow replay': { args: failedFlow('f:replay', ['f:replay', 'left']), prints: /"kind":"/ },
  'flow seal': { args: openFlow('f:seal', ['f:seal']), prints: /"kind":"sealed"/ },

  top: { args: ['--once'], prints: /"totals":\{/ },
  lanes: { args: held('l', []), prints: /"lane":"l"/ },
  'lanes pause': { args: ['l1'], prints: /"paused"/ },
  'lanes drain': { args: ['l2'], prints: /"draining"/ },
  'lanes disable': { args: ['l3'], prints: /"disabled"/ },
  'lanes resume': { args: ['l1'], prints: /"state":"active"/ },
  'lanes weigh': { args: ['l4', '9'], prints: /"weight":9/ },
  'lanes limit': { args: ['l5', '--concurrency', '20'], prints: /"concurrency":20/ },
  'lanes unlimit': { args: ['l5'], prints: /"lane":"l5"/ },
  limits: { args: withLimit('m1', []), prints: /"name":"m1"/ },
  'limits show': { args: withLimit('m2', ['m2']), prints: /"name":"m2"/ },
  'limits set': { args: ['m3', '--concurrency', '5'], prints: /"name":"m3","kind":"/ },
  'limits delete': { args: withLimit('m4', ['m4']), prints: /"name":"m4","kind":"/ },
  'limits hold': { args: withLimit('m5', ['m5', '--for', '5m']), prints: /"m5"/ },
  'limits unhold': { args: withLimit('m6', ['m6']), prints: /"name":"m6"/ },
  budgets: { args: withBudget('g1', []), prints: /"name":"g1"/ },
  'budgets show': { args: withBudget('g2', ['g2']), prints: /"name":"g2"/ },
  'budgets history': { args: withBudget('g3', ['g3']), prints: /"budget":|"charges":|"items":/ },
  'budgets raise': { args: withBudget('g4', ['g4', 'cost=5']), prints: /"kind":"raised"/ },
  'budgets reset': { args: withBudget('g5', ['g5']), prints: /"kind":"reset"/ },
  'budgets freeze': { args: withBudget('g6', ['g6']), prints: /"kind":"frozen"/ },
  'budgets open': { args: withBudget('g7', ['g7']), prints: /"name":"g7"/ },
  'budgets delete': { args: withBudget('g8', ['g8']), prints: /"kind":"deleted"/ },
  workers: { args: [], prints: /"state":"running"/ },
  'workers drain': {
    args: async ({ fabric }) => {
      await fabric.work([task('drained').handle(() => 1)], { workerId: 'drained' })
      return ['drained']
    },
    prints: /"kind":"/,
  },
  'workers dead': {
    args: async ({ fabric }) => {
      await fabric.work([task('dead').handle(() => 1)], { workerId: 'dead' })
      return ['dead']
    },
    prints: /"kind":"/,
  },

  schedules: { args: withSchedule('s1', []), prints: /"name":"s1"/ },
  'schedules show': { args: withSchedule('s2', ['s2']), prints: /"name":"s2"/ },
  'schedules set': { args: ['s3', '--task', 'greet', '--every', '1h'], prints: /"kind":"created"/ },
  'schedules retime': { args: withSchedule('s4', ['s4', '--every', '2h']), prints: /"everyMs":7200000|"every"/ },
  'schedules next': { args: withSchedule('s5', ['s5', '-n', '2']), prints: /"next":\[\{"at":\d+.*\{"at":\d+/ },
  'schedules pause': { args: withSchedule('s6', ['s6']), prints: /"state":"paused"/ },
  'schedules resume': { args: withSchedule('s7', ['s7']), prints: /"state":"active"/ },
  'schedules trigger': { args: withSchedule('s8', ['s8']), prints: /"id":"/ },
  'schedules backfill': { args: withSchedule('s9', ['s9', '--from', '3d', '--to', '1d']), prints: /"created":\[/ },
  'schedules delete': { args: withSchedule('s10', ['s10']), prints: /"deleted":true/ },

  consumers: { args: withConsumer('c1', []), prints: /"name":"c1"/ },
  'consumers show': { args: withConsumer('c2', ['c2']), prints: /"name":"c2"/ },
  'consumers seek': { args: withConsumer('c3', ['c3', '--to-end']), prints: /"moved":true/ },
  'consumers delete': { args: withConsumer('c4', ['c4']), prints: /"deleted":true/ },
  webhooks: { args: withWebhook('w1', []), prints: /"name":"w1"/ },
  'webhooks define': {
    args: async ({ hookUrl }) => ['w2', hookUrl, '--allow-private', '--task', 'none'],
    prints: /"secret":"/,
  },
  'webhooks show': { args: withWebhook('w3', ['w3']), prints: /"name":"w3"/ },
  'webhooks rotate': { args: withWebhook('w4', ['w4']), prints: /"secret":"/ },
  'webhooks disable': { args: withWebhook('w5', ['w5']), prints: /"state":"disabled"/ },
  'webhooks enable': { args: withWebhook('w6', ['w6']), prints: /"state":"enabled"|"state":"active"/ },
  'webhooks delete': { args: withWebhook('w7', ['w7']), prints: /"deleted":true/ },
  'webhooks deliveries': { args: withWebhook('w8', ['w8']), prints: /"items":\[/ },
  'webhooks redeliver': { args: async (place) => ['w9', await delivered(place, 'w9')], prints: /"redelivered":true/ },
  'webhooks deliver': { args: [], prints: /^$/, isEndless: true },

  audit: { args: [], prints: /"items":\[/ },
  mcp: {
    args: async ({ file }) => [file('tasks.js')],
    input: MCP_INPUT.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
    prints: /"name":"greet"/,
  },

  config: { args: ['store'], prints: /"value":"http:/ },
  completion: { args: ['bash'], prints: /"script":"/ },
  keys: 'group',
  'keys rotate': { args: [], prints: /"id":"/ },
  'keys list': { args: [], prints: /"isCurrent":true/ },
  'keys retire': {
    args: async ({ answer }) => {
      const { id = '' } = await answer('keys rotate')
      await answer('keys rotate')
      return [id]
    },
    prints: /"id":"k/,
  },
  'codec-keys': 'group',
  'codec-keys create': { args: async ({ file }) => [file('codec-1')], prints: /"id":"c/ },
  'codec-keys list': { args: withCodecKeys('codec-2'), prints: /"keys":\[/ },
  'codec-keys rotate': { args: withCodecKeys('codec-3'), prints: /"id":"c/ },
  'codec-keys drop': {
    args: async ({ answer, file }) => {
      const { id = '' } = await answer('codec-keys create', file('codec-4'))
      await answer('codec-keys rotate', file('codec-4'))
      return [file('codec-4'), id]
    },
    prints: /"id":"c/,
  },
  tokens: 'group',
  'tokens create': {
    args: async ({ file }) => ['deploy', '--role', 'operator', '--file', file('tokens-1')],
    prints: /"token":"/,
  },
  'tokens list': { args: withToken('tokens-2', []), prints: /"deploy"/ },
  'tokens revoke': { args: withToken('tokens-3', ['deploy']), prints: /"deploy"/ },
}
