/** A table of which only the rows in sight are in the document. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useRef, useState } from 'react'
import type { ReactNode } from 'react'
import { usePagedRows } from './paged.ts'
import type { RowPage } from './paged.ts'
import { Empty, Failed, Loading } from './views.tsx'

const ROW_PX = 44
const AHEAD_ROWS = 12

export interface Column<Row> {
  readonly name: string
  readonly width: string
  readonly cell: (row: Row) => ReactNode
}

export interface VirtualListProps<Row> {
  readonly label: string
  readonly rowKey: readonly unknown[]
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<RowPage<Row>>
  readonly columns: readonly Column<Row>[]
  readonly empty: ReactNode
  /** Receives the function that reads again what is in sight. */
  readonly onRefresh: (refresh: () => void) => void
}

export function VirtualList<Row>(props: VirtualListProps<Row>) {
  const { label, rowKey, read, columns, empty, onRefresh } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState<readonly [number, number]>([0, 1])
  const rows = usePagedRows({ key: rowKey, read, range })
  onRefresh(rows.refresh)
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: AHEAD_ROWS,
    onChange: ({ range: seen }) => {
      if (seen === null) return
      const next = [Math.max(0, seen.startIndex - AHEAD_ROWS), seen.endIndex + AHEAD_ROWS] as const
      setRange((before) => (before[0] === next[0] && before[1] === next[1] ? before : next))
    },
  })
  const template = columns.map(({ width }) => width).join(' ')
  if (rows.isLoading) {
    return rows.error === null ? <Loading /> : <Failed error={rows.error} retry={rows.refresh} />
  }
  if (rows.isWhole && rows.count === 0) return <Empty title="Nothing here">{empty}</Empty>
  return (
    <>
      {rows.error !== null && <Failed error={rows.error} retry={rows.refresh} />}
      <div className="list" role="table" aria-label={label} aria-rowcount={rows.isWhole ? rows.count + 1 : -1}>
        <div role="rowgroup" className="list-head">
          <div role="row" className="list-row" style={{ gridTemplateColumns: template }}>
            {columns.map(({ name }) => (
              <span role="columnheader" key={name}>
                {name}
              </span>
            ))}
          </div>
        </div>
        <div ref={scroller} className="list-scroll" role="rowgroup" tabIndex={0} aria-label={`${label}, rows`}>
          <div role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = rows.rowAt(index)
              return (
                <div
                  role="row"
                  key={index}
                  aria-rowindex={index + 2}
                  className="list-row"
                  style={{ gridTemplateColumns: template, transform: `translateY(${start}px)` }}
                >
                  {row === undefined ? (
                    <span role="cell" className="muted">
                      Loading…
                    </span>
                  ) : (
                    columns.map(({ name, cell }) => (
                      <span role="cell" key={name}>
                        {cell(row)}
                      </span>
                    ))
                  )}
                </div>
              )
            })}
          </div>
        </div>
      </div>
    </>
  )
}
