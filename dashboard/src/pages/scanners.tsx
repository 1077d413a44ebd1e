/** The background work of the engine in this server: when each scanner ran last, what it found and what it repaired. */
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import type { Scanner } from '../api/types.ts'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Moment, durationText } from '../parts/time.tsx'
import { Empty, Loaded, Page, Panel } from '../parts/views.tsx'

const POLL_MS = 5_000

function useScanners() {
  return useQuery({
    queryKey: ['scanners'],
    queryFn: ({ signal }) => call('listScanners', { signal }),
    refetchInterval: POLL_MS,
  })
}

export function ScannersPage() {
  const query = useScanners()
  return (
    <Page title="Scanners">
      <p className="lead">
        Those that repair are expected to find nothing. Every process with an engine runs them; this is the engine of
        this server.
      </p>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="This server runs no engine">An engine runs in a worker, or elsewhere.</Empty>
          ) : (
            <Panel title={`${items.length} scanners`} isFlush>
              <table>
                <thead>
                  <tr>
                    <th scope="col">Scanner</th>
                    <th scope="col">State</th>
                    <th scope="col">Last run</th>
                    <th scope="col" className="number">
                      Took
                    </th>
                    <th scope="col">Found and done since the start</th>
                    <th scope="col">Latest find</th>
                    <th scope="col" className="number">
                      Errors
                    </th>
                    <th scope="col">Next run</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((scanner) => (
                    <ScannerRow key={scanner.scanner} scanner={scanner} />
                  ))}
                </tbody>
              </table>
            </Panel>
          )
        }
      </Loaded>
    </Page>
  )
}

function ScannerRow({ scanner }: { readonly scanner: Scanner }) {
  const {
    scanner: name,
    kind,
    everyMs,
    cycleCount = 0,
    lastCycle,
    nextRunAt,
    errorCount = 0,
    restartCount = 0,
  } = scanner
  const state = kind === 'disabled' ? 'disabled' : (lastCycle?.errors ?? 0) > 0 ? 'failing' : 'enabled'
  return (
    <tr>
      <td>
        {name.replaceAll('_', ' ')}
        {restartCount > 0 && <span className="muted small block">restarted {restartCount} times</span>}
      </td>
      <td>
        <State state={state} />
      </td>
      <td>
        {lastCycle !== undefined && <Moment at={lastCycle.startedAt} />}
        {everyMs !== undefined && (
          <span className="muted small block">
            {cycleCount.toLocaleString('en')} runs, every {durationText(everyMs)}
          </span>
        )}
      </td>
      <td className="number">{lastCycle !== undefined && durationText(lastCycle.elapsedMs)}</td>
      <td>
        <Finds scanner={scanner} />
      </td>
      <td>{scanner.foundAt === undefined ? <span className="muted">none</span> : <Moment at={scanner.foundAt} />}</td>
      <td className="number">{errorCount.toLocaleString('en')}</td>
      <td>{nextRunAt !== undefined && <Moment at={nextRunAt} />}</td>
    </tr>
  )
}

function Finds({ scanner: { counts = {} } }: { readonly scanner: Scanner }) {
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  if (found.length === 0) return <span className="muted">nothing</span>
  return (
    <Text>{found.map(([name, count]) => `${count.toLocaleString('en')} ${name.replaceAll('_', ' ')}`).join(', ')}</Text>
  )
}
