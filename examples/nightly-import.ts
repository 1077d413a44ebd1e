/**
 * A pipeline that tolerates failures: an optional check whose failure is ignored, a node that runs only if it is needed, a cleanup
 * that runs after every outcome, and a report that receives each outcome.
 *
 *   npx node examples/nightly-import.ts [location of a store]
 */
import { PermanentError, allOf, ended, flow, task, upstream } from '../src/index.ts'
import type { UpstreamOutcome } from '../src/index.ts'
import { openFabric } from './open-fabric.ts'

interface Rows {
  readonly count: number
  readonly duplicates: number
}

const reserve = task<undefined, string>('import.reserve')
const load = task<{ file: string }, Rows, { space: string }>('import.load')
const lint = task<{ file: string }, string>('import.lint')
const merge = task<undefined, number, { rows: Rows }>('import.merge')
const publish = task<undefined, string, { rows: Rows; lint: UpstreamOutcome<string> }>('import.publish')
const release = task<undefined, string, { space: UpstreamOutcome<string> }>('import.release')
const report = task<undefined, string, Readonly<Record<'load' | 'merge' | 'publish', UpstreamOutcome>>>('import.report')

const nightly = flow('nightly-import', (f, input: { file: string; mergeFrom: number }) => {
  const space = f.node('reserve', reserve)
  const rows = f.node('load', load, { after: allOf({ space }), input: { file: input.file } })
  const linted = f.node('lint', lint, { input: { file: input.file } })
  const merged = f.node('merge', merge, {
    after: allOf({ rows }),
    when: ({ rows: { duplicates } }) => duplicates >= input.mergeFrom, // otherwise it is skipped
  })
  const published = f.node('publish', publish, {
    after: allOf({ rows, lint: upstream(linted, { onFailure: 'ignore' }) }),
  })
  // The first reads its input, and only waits for the end of the others.
  f.node('release', release, { after: ended({ space, load: rows, merge: merged, publish: published }) })
  return f.node('report', report, { after: ended({ load: rows, merge: merged, publish: published }) })
})

const handlers = [
  reserve.handle(() => 'disk-7'),
  load.handle(({ file }) => {
    if (file === 'broken.csv') throw new PermanentError('line 3 has no price')
    return { count: 120, duplicates: 2 }
  }),
  lint.handle(() => {
    throw new PermanentError('a column has no title')
  }),
  merge.handle((_input, { inputs }) => inputs.rows.duplicates),
  publish.handle((_input, { inputs: { rows, lint: linted } }) => {
    return `${rows.count} rows${linted.outcome === 'completed' ? '' : `, although ${linted.error.message}`}`
  }),
  release.handle((_input, { inputs }) => {
    const { space } = inputs
    return space.outcome === 'completed' ? `${space.value} is free again` : 'nothing to free'
  }),
  report.handle((_input, { inputs }) => {
    return Object.entries(inputs)
      .map(([node, one]) => `${node} ${one.outcome}${one.outcome === 'completed' ? '' : ` (${one.error.code})`}`)
      .sort()
      .join(', ')
  }),
]

await using opened = await openFabric()
const { fabric } = opened
// Workers evaluate conditions, so they need the flow.
await fabric.work(handlers, { flows: [nightly] })

for (const file of ['orders.csv', 'broken.csv']) {
  const handle = await fabric.submit(nightly, { file, mergeFrom: 10 })
  const { state } = await handle.wait()
  console.log(`${file}: the flow ${state}`)
  console.log(`  report: ${String(await handle.output('report'))}`)
  console.log(`  release: ${String(await handle.output('release'))}`)
  // A handle needs no definition: the results of the last nodes, by name.
  if (state === 'completed')
    console.log(
      `  results: ${Object.keys(await fabric.flow(handle.id).result())
        .sort()
        .join(', ')}`,
    )
}
