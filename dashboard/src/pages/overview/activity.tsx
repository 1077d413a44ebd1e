/** How much work came and ended in the last hour or day, and how long it waited and ran. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Activity as Counts, Latencies } from '../../api/types.ts'
import { Moment, durationText } from '../../parts/time.tsx'
import { Facts, Loaded, Panel } from '../../parts/views.tsx'

const WINDOWS = {
  hour: { window: '1h', buckets: 60, ms: 3_600_000, everyMs: 10_000, examine: 5_000 },
  day: { window: '1d', buckets: 96, ms: 86_400_000, everyMs: 60_000, examine: 10_000 },
} as const
const HEIGHT = 96
const STEP = 10
const MINUTE_MS = 60_000

export function Activity() {
  const [span, setSpan] = useState<keyof typeof WINDOWS>('hour')
  const { window, buckets, everyMs, examine } = WINDOWS[span]
  const query = useQuery({
    queryKey: ['activity', span],
    queryFn: ({ signal }) => call('getActivity', { query: { window, buckets, examine }, signal }),
    refetchInterval: everyMs,
  })
  return (
    <Panel
      title="Activity"
      aside={
        <div className="states" role="group" aria-label="Time">
          {(['hour', 'day'] as const).map((each) => (
            <button
              key={each}
              type="button"
              className="chip"
              aria-pressed={each === span}
              onClick={() => setSpan(each)}
            >
              Last {each}
            </button>
          ))}
        </div>
      }
    >
      <Loaded query={query}>{(counts) => <Picture counts={counts} />}</Loaded>
    </Panel>
  )
}

function Picture({ counts }: { readonly counts: Counts }) {
  const { buckets, start, run, from, to, completeSince } = counts
  const sumOf = (field: 'created' | 'completed' | 'failed' | 'other') =>
    buckets.reduce((sum, bucket) => sum + bucket[field], 0)
  const [created, completed, failed, other] = [sumOf('created'), sumOf('completed'), sumOf('failed'), sumOf('other')]
  const most = Math.max(4, ...buckets.map((bucket) => bucket.completed + bucket.failed + bucket.other))
  const scale = (count: number) => (count / most) * (HEIGHT - 4)
  const width = buckets.length * STEP
  const minutes = Math.max(1, (to - completeSince) / MINUTE_MS)
  return (
    <>
      <svg
        className="chart"
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${created} created, ${completed} completed, ${failed} failed, ${other} ended otherwise`}
      >
        <line x1={0} x2={width} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {buckets.map((bucket, i) => {
          const parts = [
            ['ended', bucket.completed],
            ['other', bucket.other],
            ['failed', bucket.failed],
          ] as const
          let below = 0
          return (
            <g key={bucket.from}>
              {parts.map(([series, count]) => {
                below += count
                return count === 0 ? null : (
                  <rect
                    key={series}
                    data-series={series}
                    x={i * STEP + 1}
                    width={STEP - 2}
                    y={HEIGHT - scale(below)}
                    height={scale(count)}
                  />
                )
              })}
            </g>
          )
        })}
      </svg>
      <p className="legend">
        <span data-state="completed">{completed.toLocaleString('en')} completed</span>
        <span data-state="failed">{failed.toLocaleString('en')} failed</span>
        <span data-state="cancelled">{other.toLocaleString('en')} otherwise</span>
        <span className="plain-legend">
          at most {most} in {durationText((to - from) / buckets.length)}
        </span>
      </p>
      <Facts
        facts={[
          ['Created', `${rateText(created / minutes)} a minute`],
          ['Ended', `${rateText((completed + failed + other) / minutes)} a minute`],
          ['Waited to start', start !== undefined && <Percentiles of={start} />],
          ['Ran', run !== undefined && <Percentiles of={run} />],
        ]}
      />
      <p className="muted small">
        Of the executions that were created in this time
        {completeSince > from && (
          <>
            , all since <Moment at={completeSince} />
          </>
        )}
        .
      </p>
    </>
  )
}

function rateText(perMinute: number): string {
  return perMinute.toLocaleString('en', { maximumFractionDigits: perMinute < 10 ? 1 : 0 })
}

function Percentiles({ of: { p50, p95, p99 } }: { readonly of: Latencies }) {
  return (
    <span className="number" title={`p50 ${durationText(p50)}, p95 ${durationText(p95)}, p99 ${durationText(p99)}`}>
      {durationText(p50)} <span className="muted small">p95 {durationText(p95)}</span>
    </span>
  )
}
