/**
 * Runs a worker and an engine on a SQLite file, with four executions. One completes, one fails twice before it completes,
 * one is delayed, and one is cancelled while it runs.
 *
 *   npm run demo
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import { createFabric, task } from '../src/index.ts'
import type { ExecutionDescription, Fabric, StoredEvent } from '../src/index.ts'

const renderReport = task<{ pages: number }, { file: string }>('report.render')
const chargeCard = task<{ cents: number }, { receipt: string }>('card.charge', {
  retry: { attempts: 5, backoff: { kind: 'fixed', delay: '600ms' }, jitter: false },
})
const sendReminder = task<{ to: string }, string>('mail.remind')
const encodeVideo = task<{ minutes: number }, string>('video.encode')

const handlers = [
  renderReport.handle(async ({ pages }, ctx) => {
    for (let page = 1; page <= pages; page++) {
      await sleep(250, undefined, { signal: ctx.signal })
      await ctx.progress((100 * page) / pages, `page ${page} of ${pages}`)
    }
    return { file: 'report.pdf' }
  }),
  chargeCard.handle(async ({ cents }, ctx) => {
    await sleep(150, undefined, { signal: ctx.signal })
    if (ctx.failureCount < 2) throw new Error('the bank did not respond')
    return { receipt: `${cents} cents, charged once` }
  }),
  sendReminder.handle(({ to }) => `sent to ${to}`),
  encodeVideo.handle(async ({ minutes }, ctx) => {
    for (let minute = 1; minute <= minutes; minute++) {
      await sleep(200, undefined, { signal: ctx.signal })
      await ctx.progress((100 * minute) / minutes, `minute ${minute} of ${minutes}`)
    }
    return 'encoded'
  }),
]

/** Runs the demo until all executions have ended or the demo is interrupted. */
async function demonstrate(fabric: Fabric, signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  const watching = watch(fabric, AbortSignal.any([signal, failed.signal]))
  try {
    const ended = await runAll(fabric, signal)
    await watching
    summarise(ended)
  } finally {
    failed.abort()
    await watching
  }
}

async function runAll(fabric: Fabric, signal: AbortSignal): Promise<ExecutionDescription[]> {
  await fabric.work(handlers)
  const executions = [
    await fabric.submit(renderReport, { pages: 4 }),
    await fabric.submit(chargeCard, { cents: 1_999 }, { id: 'charge:A-17' }),
    await fabric.submit(sendReminder, { to: 'ada@example.com' }, { delay: '2s' }),
  ]
  const video = await fabric.submit(encodeVideo, { minutes: 90 })
  await sleep(1_300, undefined, { signal })
  await video.cancel('the viewer left', { by: 'demo' })
  return await Promise.all([...executions, video].map((execution) => execution.wait({ signal })))
}

/** Prints events from the event log as they are written, until all executions have ended. */
async function watch(fabric: Fabric, signal: AbortSignal): Promise<void> {
  const startedAt = Date.now()
  let endedCount = 0
  for await (const item of fabric.subscribe({ signal })) {
    if (item.kind !== 'event') continue
    console.log(lineOf(item.event, startedAt))
    if (item.event.type === 'execution_ended' && ++endedCount === handlers.length) return
  }
}

function lineOf(event: StoredEvent, startedAt: number): string {
  const seconds = ((event.at - startedAt) / 1_000).toFixed(2).padStart(5)
  return `  ${styleText('dim', `${seconds} s`)}  ${event.task.padEnd(14)} ${storyOf(event)}`
}

function storyOf(event: StoredEvent): string {
  switch (event.type) {
    case 'execution_created':
      return event.until === undefined ? 'submitted' : `submitted with a delay of ${waitOf(event)}`
    case 'attempt_started':
      return `attempt ${event.attempt ?? 1} started`
    case 'progress_updated':
      return `${bar(event.percent ?? 0)} ${event.reason ?? ''}`
    case 'attempt_failed':
      return styleText(
        'yellow',
        `attempt ${event.attempt ?? 1} failed: ${event.reason ?? ''}; retry in ${waitOf(event)}`,
      )
    case 'execution_promoted':
      return 'delay is over'
    case 'cancel_requested':
      return styleText('magenta', `cancel requested by ${event.by ?? ''}: ${event.reason ?? ''}`)
    case 'execution_ended':
      return styleText(event.outcome === 'completed' ? 'green' : 'magenta', event.outcome ?? 'ended')
    default:
      return event.type.replaceAll('_', ' ')
  }
}

function waitOf(event: StoredEvent): string {
  return `${(((event.until ?? event.at) - event.at) / 1_000).toFixed(1)} s`
}

const BAR_WIDTH = 20

function bar(percent: number): string {
  const full = Math.round((percent / 100) * BAR_WIDTH)
  return (
    styleText('cyan', '█'.repeat(full)) +
    styleText('dim', '░'.repeat(BAR_WIDTH - full)) +
    ` ${percent.toFixed(0).padStart(3)} %`
  )
}

function summarise(ended: readonly ExecutionDescription[]): void {
  const rows = ended.map((execution) => [
    execution.task,
    execution.state,
    String(execution.attempt),
    `${(((execution.endedAt ?? 0) - execution.createdAt) / 1_000).toFixed(1)} s`,
    execution.outcome === 'completed'
      ? JSON.stringify(execution.result)
      : `${execution.reason ?? ''} (${execution.by ?? ''})`,
  ])
  const table = [['task', 'state', 'attempts', 'took', 'outcome'], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  console.log()
  table.forEach((row, number) => {
    const line = `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd()
    console.log(number === 0 ? styleText('bold', line) : line)
  })
}

const interrupt = new AbortController()
process.once('SIGINT', () => interrupt.abort())
process.once('SIGTERM', () => interrupt.abort())

const folder = await mkdtemp(path.join(tmpdir(), 'flowfabric-demo-'))
const fabric = await createFabric(`sqlite:${path.join(folder, 'fabric.db')}`)
console.log(`\nA worker and an engine on one SQLite file, in this process. Four executions:\n`)
try {
  await demonstrate(fabric, interrupt.signal)
  console.log(
    '\nNext: examples/first-program.ts. Kill it at any moment and start it again; it resumes where it stopped.\n',
  )
} catch (error) {
  if (!interrupt.signal.aborted) throw error
  console.log('\nInterrupted. Running executions are released, and the file is removed.\n')
  process.exitCode = 130
} finally {
  await fabric.close({ drain: 0 })
  await rm(folder, { recursive: true })
}
