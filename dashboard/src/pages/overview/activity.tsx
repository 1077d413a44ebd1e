/** What has ended while the page was open, from the events that it receives. */
import { useEffect, useState } from 'react'
import { liveLog } from '../../api/live.ts'
import { durationText, useNow } from '../../parts/time.tsx'
import { Panel } from '../../parts/views.tsx'

const BUCKET_MS = 10_000
const BUCKETS = 60
const HEIGHT = 96

interface Bucket {
  /** The number of its interval since the epoch. */
  readonly at: number
  ended: number
  failed: number
}

export function Activity() {
  const [buckets, setBuckets] = useState<readonly Bucket[]>([])
  const now = useNow()
  useEffect(
    () =>
      liveLog.listen((event) => {
        if (event.type !== 'execution_ended') return
        const at = Math.floor(event.at / BUCKET_MS)
        setBuckets((before) => counted(before, at, event.outcome === 'completed'))
      }),
    [],
  )
  const last = Math.floor(now / BUCKET_MS)
  const shown = Array.from({ length: BUCKETS }, (_, i) => {
    const at = last - BUCKETS + 1 + i
    return buckets.find((bucket) => bucket.at === at) ?? { at, ended: 0, failed: 0 }
  })
  const most = Math.max(4, ...shown.map(({ ended, failed }) => ended + failed))
  const ended = shown.reduce((sum, bucket) => sum + bucket.ended, 0)
  const failed = shown.reduce((sum, bucket) => sum + bucket.failed, 0)
  const scale = (count: number) => (count / most) * (HEIGHT - 4)
  return (
    <Panel
      title="Ended"
      aside={<span className="muted">since this page was opened, {durationText(BUCKETS * BUCKET_MS)} at most</span>}
    >
      <svg
        className="chart"
        viewBox={`0 0 ${BUCKETS * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${ended} completed, ${failed} ended otherwise`}
      >
        <line x1={0} x2={BUCKETS * 10} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {shown.map((bucket, i) => (
          <g key={bucket.at}>
            <rect
              data-series="ended"
              x={i * 10 + 1}
              width={8}
              y={HEIGHT - scale(bucket.ended)}
              height={scale(bucket.ended)}
            />
            <rect
              data-series="failed"
              x={i * 10 + 1}
              width={8}
              y={HEIGHT - scale(bucket.ended + bucket.failed)}
              height={scale(bucket.failed)}
            />
          </g>
        ))}
      </svg>
      <p className="legend">
        <span data-state="completed">{ended.toLocaleString('en')} completed</span>
        <span data-state="failed">{failed.toLocaleString('en')} otherwise</span>
        <span className="plain-legend">at most {most} in 10 s</span>
      </p>
    </Panel>
  )
}

function counted(before: readonly Bucket[], at: number, isCompleted: boolean): readonly Bucket[] {
  const known = before.find((bucket) => bucket.at === at) ?? { at, ended: 0, failed: 0 }
  const next = isCompleted ? { ...known, ended: known.ended + 1 } : { ...known, failed: known.failed + 1 }
  return [...before.filter((bucket) => bucket.at !== at && bucket.at > at - BUCKETS), next]
}
