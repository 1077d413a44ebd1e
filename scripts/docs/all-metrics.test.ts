import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../run.ts'
import { metricGroups } from './all-metrics.ts'

const metrics = metricGroups.flatMap((group) => group.metrics)
const byName = new Map(metrics.map((metric) => [metric.name, metric]))

/** Selectors of a query, such as `ff_workers{state="running"}`, with the labels that the query uses on them. */
const SELECTOR = /\b(ff_[a-z_]+)(?:\{([^}]*)\})?/g
const GROUPING = /\b(?:by|on) \(([a-z_, ]*)\)/g
const COMPUTED_LABELS = new Set(['', 'le'])

interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: object
  readonly targets: readonly { readonly expr: string }[]
}

async function sources(): Promise<string> {
  const files = await readdir(path.join(root, 'src'), { recursive: true })
  const own = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  return (await Promise.all(own.map((file) => readFile(path.join(root, 'src', file), 'utf8')))).join('\n')
}

function expectKnown(query: string): void {
  const used: string[] = []
  const labels = new Set<string>(COMPUTED_LABELS)
  for (const [, name = '', matchers = ''] of query.matchAll(SELECTOR)) {
    const metric = byName.get(name) ?? byName.get(name.replace(/_(bucket|sum|count)$/, ''))
    expect(metric, `${name} in ${query}`).toBeDefined()
    used.push(name)
    for (const label of metric!.labels) labels.add(label)
    const matched = [...matchers.matchAll(/([a-z]+)\s*(?:=~|!=|=)/g)].map(([, label]) => label)
    expect(metric!.labels, query).toEqual(expect.arrayContaining(matched))
  }
  expect(used, query).not.toEqual([])
  for (const [, list = ''] of query.matchAll(GROUPING)) {
    for (const label of list.split(',')) expect([...labels], query).toContain(label.trim())
  }
}

test('every metric of the sources is listed once, and named after its kind', async () => {
  const defined = [...(await sources()).matchAll(/kind: '[a-z]+',\s+name: '(ff_[a-z_]+)'/g)].map(([, name]) => name)

  expect([...byName.keys()].sort()).toEqual(defined.sort())
  for (const { name, kind } of metrics) expect(name.endsWith('_total')).toBe(kind === 'counter')
})

test('the dashboard for Grafana shows metrics that exist', async () => {
  const text = await readFile(path.join(root, 'ops/grafana-dashboard.json'), 'utf8')
  const { panels } = JSON.parse(text) as { readonly panels: readonly Panel[] }

  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  for (const { title, type, gridPos, targets } of panels) {
    expect([title, type, gridPos]).not.toContain('')
    for (const { expr } of targets) expectKnown(expr)
  }
})

test('the alerts watch metrics that exist', async () => {
  const text = await readFile(path.join(root, 'ops/prometheus-alerts.yaml'), 'utf8')
  const queries = text
    .split('- alert:')
    .slice(1)
    .map((rule) => /expr: ([^]*?)\n {8}for:/.exec(rule)?.[1] ?? '')

  expect(queries).toHaveLength(7)
  for (const query of queries) expectKnown(query.replace('>-', ''))
})
